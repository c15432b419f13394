import { isJsonObject, type Json, type JsonObject } from '@parley/proxy-protocol';
import type { ToolResult } from '../domain/facts.js';
import type { EnvTarget } from './env-target.js';
import type { HttpAnswer } from './http-exchange.js';
import { readToolPage, readToolResult, type ListedTool } from './mcp-answers.js';
import { sessionError, SessionLostError } from './mcp-errors.js';
import { McpTransport, type McpTransportOptions, type Purpose } from './mcp-transport.js';

const PROTOCOL_VERSION = '2025-11-25';
const MAX_PAGES = 1_000;
const MAX_TOOLS = 10_000;
/** What a header can carry. */
const VERSION_TEXT = /^[\x21-\x7e]{1,100}$/u;

export interface ClientInfo {
  readonly name: string;
  readonly version: string;
}

export interface McpSessionOptions extends McpTransportOptions {
  readonly clientInfo: ClientInfo;
  readonly closeTimeoutMs: number;
}

/** One session with an env server, over Streamable HTTP. Nothing is ever sent a second time. */
export class McpSession {
  readonly #target: EnvTarget;
  readonly #options: McpSessionOptions;
  readonly #transport: McpTransport;
  #lastId = 0;
  #sessionId: string | undefined;
  #version: string | undefined;

  constructor(target: EnvTarget, options: McpSessionOptions) {
    this.#target = target;
    this.#options = options;
    this.#transport = new McpTransport(target, options);
  }

  /** For the span of a call; `mcp.*` as far as the server has said it. */
  get attributes(): JsonObject {
    const { hostname, port, protocol } = this.#target.url;
    return {
      'mcp.method.name': 'tools/call',
      'server.address': hostname.replace(/^\[|\]$/gu, ''),
      'server.port': port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port),
      ...(this.#sessionId === undefined ? {} : { 'mcp.session.id': this.#sessionId }),
      ...(this.#version === undefined ? {} : { 'mcp.protocol.version': this.#version }),
    };
  }

  /** One that did not open may still have to be closed. */
  async open(signal: AbortSignal): Promise<void> {
    const params = { protocolVersion: PROTOCOL_VERSION, capabilities: {}, clientInfo: { ...this.#options.clientInfo } };
    const result = await this.#request('initialize', params, signal);
    const version = result['protocolVersion'];
    this.#version = typeof version === 'string' && VERSION_TEXT.test(version) ? version : PROTOCOL_VERSION;
    await this.#notify('notifications/initialized', signal);
  }

  /** All pages. */
  async listTools(signal: AbortSignal): Promise<readonly ListedTool[]> {
    const tools: ListedTool[] = [];
    const cursors = new Set<string>();
    let params: JsonObject = {};
    for (let page = 1; page <= MAX_PAGES && tools.length <= MAX_TOOLS; page += 1) {
      const { tools: more, nextCursor } = readToolPage(await this.#request('tools/list', params, signal));
      tools.push(...more);
      if (nextCursor === undefined) return tools;
      if (cursors.has(nextCursor)) throw sessionError('tools/list: the server gave the same cursor twice');
      cursors.add(nextCursor);
      params = { cursor: nextCursor };
    }
    throw sessionError(`tools/list: more than ${String(MAX_PAGES)} pages or ${String(MAX_TOOLS)} tools`);
  }

  async callTool(name: string, args: JsonObject, signal: AbortSignal): Promise<ToolResult> {
    return readToolResult(await this.#request('tools/call', { name, arguments: args }, signal));
  }

  /** Says goodbye if the server gave the session an id; never rejects. */
  async close(): Promise<void> {
    if (this.#sessionId === undefined) return;
    const signal = AbortSignal.timeout(this.#options.closeTimeoutMs);
    const headers = this.#headers();
    this.#sessionId = undefined;
    await this.#transport
      .send({ method: 'DELETE', headers }, { method: 'DELETE', signal }, () => Promise.resolve())
      .catch(() => undefined);
  }

  async #request(method: string, params: JsonObject, signal: AbortSignal): Promise<JsonObject> {
    this.#lastId += 1;
    const id = this.#lastId;
    const purpose = { method, signal };
    const reply = await this.#post({ jsonrpc: '2.0', id, method, params }, purpose, async (answer) => {
      if (method === 'initialize') this.#sessionId = answer.header('mcp-session-id') || undefined;
      return await this.#transport.reply(answer, id, purpose);
    });
    if (Object.hasOwn(reply, 'error')) throw sessionError(`${method} failed: ${errorText(reply['error'] ?? null)}`);
    const result = reply['result'];
    if (!isJsonObject(result)) throw sessionError(`${method}: the reply has no result object`);
    return result;
  }

  async #notify(method: string, signal: AbortSignal): Promise<void> {
    await this.#post({ jsonrpc: '2.0', method }, { method, signal }, () => Promise.resolve());
  }

  async #post<T>(message: JsonObject, purpose: Purpose, read: (answer: HttpAnswer) => Promise<T>): Promise<T> {
    const request = { method: 'POST', headers: this.#headers(), body: JSON.stringify(message) } as const;
    const heldSession = this.#sessionId;
    return await this.#transport.send(request, purpose, async (answer) => {
      if (answer.status === 404 && heldSession !== undefined) throw sessionLost(purpose.method, heldSession);
      if (answer.status < 200 || answer.status > 299) throw await this.#transport.refusal(answer, purpose);
      return await read(answer);
    });
  }

  #headers(): Record<string, string> {
    return {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      ...('user-agent' in this.#target.headers ? {} : { 'user-agent': this.#userAgent() }),
      ...(this.#sessionId === undefined ? {} : { 'mcp-session-id': this.#sessionId }),
      ...(this.#version === undefined ? {} : { 'mcp-protocol-version': this.#version }),
    };
  }

  #userAgent(): string {
    return `${this.#options.clientInfo.name}/${this.#options.clientInfo.version}`;
  }
}

function sessionLost(method: string, sessionId: string): SessionLostError {
  return new SessionLostError(
    'ToolSessionError',
    `${method}: the server no longer knows session ${sessionId}; it restarted or ended the session, and the env's state may be gone with it`,
  );
}

function errorText(error: Json): string {
  const parts = isJsonObject(error) ? error : { message: error };
  return `${plainText(parts['message'])} (code ${plainText(parts['code'])})`;
}

function plainText(value: Json | undefined): string {
  if (value === undefined || value === null) return 'None';
  return (typeof value === 'string' ? value : JSON.stringify(value)).slice(0, 10_000).toWellFormed();
}
