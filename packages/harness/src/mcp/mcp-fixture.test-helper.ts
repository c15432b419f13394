import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '../json.js';
import type { HarnessLogger } from '../logger.js';
import { StepOutcome } from '../tools/step-outcome.js';
import type { ToolCallContext } from '../tools/tool-handler.js';
import type { ToolProgressUpdate } from '../tools/tool-progress.js';
import type { McpConfig, McpServerConfig } from './mcp-config.js';
import { McpToolHandler, type McpToolHandlerOptions } from './mcp-tool-handler.js';

const FOLDER = join(import.meta.dirname, 'test-servers');

export interface Warning {
  readonly message: string;
  readonly details: Readonly<Record<string, unknown>>;
}

export function recordingLogger(): HarnessLogger & { readonly warnings: Warning[] } {
  const warnings: Warning[] = [];
  return { warnings, warn: (message, details = {}) => void warnings.push({ message, details }) };
}

export function rawServer(mode: string, more: Partial<McpServerConfig> = {}): McpServerConfig {
  return { command: process.execPath, args: [join(FOLDER, 'raw-server.mjs'), mode], ...more } as McpServerConfig;
}

export function sdkServer(more: Partial<McpServerConfig> = {}): McpServerConfig {
  return { command: process.execPath, args: [join(FOLDER, 'sdk-stdio-server.mjs')], ...more } as McpServerConfig;
}

/** Handlers and processes of one test, all ended by `close`. */
export class McpFixture {
  readonly logger = recordingLogger();
  readonly #handlers: McpToolHandler[] = [];
  readonly #children: ChildProcess[] = [];
  readonly #folders: string[] = [];

  handler(mcpServers: McpConfig['mcpServers'], options: McpToolHandlerOptions = {}): McpToolHandler {
    const handler = new McpToolHandler({ mcpServers }, { logger: this.logger, stopGraceMs: 500, ...options });
    this.#handlers.push(handler);
    return handler;
  }

  async started(mcpServers: McpConfig['mcpServers'], options: McpToolHandlerOptions = {}): Promise<McpToolHandler> {
    const handler = this.handler(mcpServers, options);
    await handler.start(new AbortController().signal);
    return handler;
  }

  async folder(): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'mcp-test-'));
    this.#folders.push(folder);
    return folder;
  }

  async httpServer(args: readonly string[] = [], port = 0): Promise<TestHttpServer> {
    const child = spawn(process.execPath, [join(FOLDER, 'http-server.mjs'), ...args], {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...process.env, PORT: String(port) },
    });
    this.#children.push(child);
    const [chunk] = (await once(child.stdout, 'data')) as [Buffer];
    return new TestHttpServer(child, Number(chunk.toString()));
  }

  async close(): Promise<void> {
    await Promise.all(this.#handlers.map((handler) => handler.stop()));
    await Promise.all(this.#children.map(endChild));
    await Promise.all(this.#folders.map((folder) => rm(folder, { recursive: true, force: true })));
  }
}

export class TestHttpServer {
  constructor(
    private readonly child: ChildProcess,
    readonly port: number,
  ) {}

  get config(): McpServerConfig {
    return { url: `http://127.0.0.1:${this.port}/mcp` };
  }

  async control(what: string): Promise<Readonly<Record<string, number>>> {
    const response = await fetch(`http://127.0.0.1:${this.port}/control/${what}`);
    return (await response.json()) as Record<string, number>;
  }

  end(): Promise<void> {
    return endChild(this.child);
  }
}

async function endChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly updates?: ToolProgressUpdate[];
}

export async function callTool(
  handler: McpToolHandler,
  name: string,
  args: JsonObject = {},
  options: CallOptions = {},
): Promise<StepOutcome> {
  const tool = handler.tools.find((candidate) => candidate.name === name);
  if (tool === undefined) throw new Error(`no tool ${name}`);
  const context: ToolCallContext = {
    agentId: 'agent',
    runId: 'run',
    turn: 1,
    callId: 'c1',
    tool,
    arguments: args,
    signal: options.signal ?? new AbortController().signal,
    progress: {
      report: (update) => {
        options.updates?.push(update);
        return Promise.resolve();
      },
    },
  };
  const outcome = await handler.call(context);
  if (!(outcome instanceof StepOutcome)) throw new Error('a StepOutcome was expected');
  return outcome;
}

/** Polls, because nothing tells when another process has done something. */
export async function until(condition: () => boolean | Promise<boolean>, withinMs = 5_000): Promise<void> {
  const end = performance.now() + withinMs;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error('it did not become true in time');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** False for a zombie too: it runs no more. */
export async function isRunning(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return stat !== '' && !/\) [ZX] /u.test(stat);
}
