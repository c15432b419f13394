import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A part of a message as the API of Gemini has it. */
interface Part {
  readonly text?: string;
  readonly functionCall?: { readonly name: string; readonly args: unknown };
  readonly functionResponse?: { readonly response: unknown };
}

interface GenerateRequest {
  readonly contents?: readonly { readonly role?: string; readonly parts?: readonly Part[] }[];
}

export interface FakeGeminiOptions {
  /** What the model calls before it answers. */
  readonly call?: { readonly name: string; readonly args: unknown };
  /** Takes requests and never answers. */
  readonly silent?: boolean;
}

export interface FakeGemini {
  readonly url: string;
  /** Resolves with the first request. */
  readonly asked: Promise<unknown>;
  stop(): Promise<void>;
}

/**
 * Stands in for the service of Gemini models, on the loopback address: the first answer to a prompt is the call, and the
 * answer to a call's result quotes that result.
 */
export async function startFakeGemini({ call, silent = false }: FakeGeminiOptions = {}): Promise<FakeGemini> {
  const asked = Promise.withResolvers<undefined>();
  const server = createServer((request, response) => {
    void readBody(request).then((body) => {
      asked.resolve(undefined);
      if (silent) return;
      const isStream = (request.url ?? '').includes(':streamGenerateContent');
      send(response, isStream, answerTo(JSON.parse(body) as GenerateRequest, call));
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: asked.promise,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function answerTo(request: GenerateRequest, call: FakeGeminiOptions['call']): Part {
  const parts = request.contents?.at(-1)?.parts ?? [];
  const result = parts.find((part) => part.functionResponse !== undefined)?.functionResponse;
  if (result !== undefined) return { text: `The tool said: ${JSON.stringify(result.response)}` };
  return call === undefined ? { text: 'Hello from the fake model.' } : { functionCall: call };
}

function send(response: ServerResponse, isStream: boolean, part: Part): void {
  const json = JSON.stringify({
    candidates: [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 }],
    usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 1, totalTokenCount: 10 },
    modelVersion: 'fake',
  });
  response.setHeader('content-type', isStream ? 'text/event-stream' : 'application/json');
  response.end(isStream ? `data: ${json}\r\n\r\n` : json);
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
