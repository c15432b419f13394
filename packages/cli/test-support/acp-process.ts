import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';

/** Long enough for a loaded machine. */
const WAIT_MS = 90_000;

export interface AcpMessage {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: { readonly update?: Record<string, unknown>; readonly [name: string]: unknown };
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number; readonly message: string };
}

/** A process that speaks lines of JSON, with somebody who asks and answers. */
export class AcpProcess {
  readonly child: ChildProcessWithoutNullStreams;
  /** Every line of the standard output. */
  readonly lines: string[] = [];
  readonly exit: Promise<{ readonly code: number | null; readonly signal: string | null }>;
  err = '';
  /** What is answered when a permission is asked for; undefined for no answer. */
  permission: string | undefined = 'allow_once';
  #nextId = 0;
  #rest = '';

  constructor(
    args: readonly string[],
    readonly options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
  ) {
    this.child = spawn(process.execPath, [...args], options);
    this.child.stdout.setEncoding('utf8').on('data', (chunk: string) => this.#hear(chunk));
    this.child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      this.err += chunk;
      this.child.emit('said');
    });
    this.child.stdin.on('error', () => undefined);
    this.exit = new Promise((resolve) => this.child.once('close', (code, signal) => resolve({ code, signal })));
  }

  get messages(): AcpMessage[] {
    return this.lines.map((line) => JSON.parse(line) as AcpMessage);
  }

  get updates(): Record<string, unknown>[] {
    return this.messages.flatMap(({ params }) => (params?.update === undefined ? [] : [params.update]));
  }

  send(message: object): void {
    this.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  /** @returns the id of a request whose answer is not waited for. */
  ask(method: string, params: object): string {
    const id = `r${this.#nextId++}`;
    this.send({ id, method, params });
    return id;
  }

  async answer(id: string): Promise<AcpMessage> {
    return this.until(`the answer to ${id}`, () =>
      this.messages.find((message) => message.method === undefined && message.id === id),
    );
  }

  request(method: string, params: object): Promise<AcpMessage> {
    return this.answer(this.ask(method, params));
  }

  /** @returns the id of a new session. */
  async begin(cwd: string, mcpServers: readonly object[] = []): Promise<string> {
    await this.request('initialize', { protocolVersion: 1, clientCapabilities: {} });
    const { result } = await this.request('session/new', { cwd, mcpServers });
    return String(result?.['sessionId']);
  }

  prompt(sessionId: string, text: string): string {
    return this.ask('session/prompt', { sessionId, prompt: [{ type: 'text', text }] });
  }

  /** A prompt to the offline model that calls these tools. */
  calls(sessionId: string, ...calls: readonly (readonly [tool: string, args: object])[]): string {
    return this.prompt(sessionId, JSON.stringify(calls.map(([tool, args]) => ({ tool, arguments: args }))));
  }

  async until<T>(what: string, look: () => T | undefined | false): Promise<T> {
    for (;;) {
      const found = look();
      if (found !== undefined && found !== false) return found;
      await new Promise((resolve, reject) => {
        const fail = (): void => reject(new Error(`waited for ${what}; ${this.lines.join('\n')}\n${this.err}`));
        const timer = setTimeout(fail, WAIT_MS);
        this.child.once('said', () => {
          clearTimeout(timer);
          resolve(undefined);
        });
      });
    }
  }

  #hear(chunk: string): void {
    const lines = (this.#rest + chunk).split('\n');
    this.#rest = lines.pop() ?? '';
    this.lines.push(...lines);
    for (const line of lines) {
      if (!line.includes('"session/request_permission"') || this.permission === undefined) continue;
      const { id } = JSON.parse(line) as AcpMessage;
      this.send({ id, result: { outcome: { outcome: 'selected', optionId: this.permission } } });
    }
    this.child.emit('said');
  }
}
