import { request, type Agent } from 'node:http';

export interface HttpQuestion {
  readonly method: string;
  readonly url: string;
  readonly connections: Agent;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

export interface HttpReply {
  readonly status: number;
  readonly body: string;
}

const TIMEOUT_MS = 5_000;

/** Undefined when there was no answer, or none within 5 s. */
export function askHttp({
  url,
  method,
  connections,
  headers = {},
  body,
}: HttpQuestion): Promise<HttpReply | undefined> {
  return new Promise((resolve) => {
    const nothing = (): void => {
      resolve(undefined);
    };
    const asked = request(url, { method, agent: connections, headers, timeout: TIMEOUT_MS }, (answer) => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (piece: string) => (text += piece));
      answer.on('end', () => {
        resolve({ status: answer.statusCode ?? 0, body: text });
      });
      answer.on('error', nothing);
    });
    asked.on('timeout', () => {
      asked.destroy(new Error('no answer'));
    });
    asked.on('error', nothing);
    asked.end(body);
  });
}
