import { createHash } from 'node:crypto';
import {
  type StepOutcome as Outcome,
  StepOutcome,
  type ToolCallContext,
  type ToolDefinition,
  type ToolHandler,
} from '@parley/harness';
import type { ActOptions, JsonObject, PlayedTurn, ProxyAction, ProxyTool } from '@parley/proxy-protocol';
import type { CallBook } from './call-book.js';
import { plainObject } from './plain-json.js';
import type { ProxyPorts } from '../proxy-ports.js';

const MAX_NAME = 64;
const HASH_LENGTH = 8;
const MAX_PROGRESS = 2_000;

/** The tools of a turn as the harness has them; each call is an action of the proxy. */
export class TurnTools implements ToolHandler {
  readonly tools: readonly ToolDefinition[];
  readonly #byName: ReadonlyMap<string, ProxyTool>;
  readonly #turn: PlayedTurn;
  readonly #book: CallBook;
  readonly #describe: ProxyPorts['describeResult'];

  constructor(
    turn: PlayedTurn,
    offered: readonly ProxyTool[],
    { book, describeResult }: { readonly book: CallBook; readonly describeResult: ProxyPorts['describeResult'] },
  ) {
    this.#turn = turn;
    this.#book = book;
    this.#describe = describeResult;
    this.#byName = named(offered);
    this.tools = [...this.#byName].map(([name, tool]) => definitionOf(name, tool));
  }

  /** The proxy's tool behind a name that the model knows. */
  toolOf(name: string): ProxyTool | undefined {
    return this.#byName.get(name);
  }

  /** The name under which the model knows a tool of the proxy. */
  nameOf(proxyName: string): string {
    for (const [name, tool] of this.#byName) if (tool.name === proxyName) return name;
    return proxyName;
  }

  async call(context: ToolCallContext): Promise<Outcome | string> {
    const action = this.actionOf(context.tool.name, this.#book.argumentsOf(context.callId) ?? context.arguments);
    const onRunning: NonNullable<ActOptions['onRunning']> = ({ output }) => {
      const written = output === undefined ? '' : `${output.stdout}${output.stderr}`;
      void context.progress.report({ message: written === '' ? 'still running' : written.slice(-MAX_PROGRESS) });
    };
    const result = await this.#turn.act(action, { signal: context.signal, onRunning });
    const { text, isError } = this.#describe(result);
    return isError ? new StepOutcome(text, { error: lastLine(text) }) : text;
  }

  /** @throws Error for a call that no action can be made of. */
  actionOf(name: string, args: JsonObject): ProxyAction {
    const tool = this.#byName.get(name);
    if (tool === undefined) throw new Error(`the turn has no tool ${name}`);
    if (tool.server !== undefined) return { kind: 'tool', server: tool.server, name: tool.name, arguments: args };
    const { command } = args;
    if (typeof command !== 'string') throw new Error('a command is needed: {"command": "…"}');
    return { kind: 'bash', command };
  }
}

/** True for a command's tool: the proxy's own, which no server offers. */
export function isCommandTool(tool: ProxyTool): boolean {
  return tool.server === undefined;
}

/** Servers may name tools as models cannot: such a name is changed, and ends in a hash of what it was. */
function named(offered: readonly ProxyTool[]): ReadonlyMap<string, ProxyTool> {
  const all = new Map<string, ProxyTool>();
  for (const tool of offered) {
    const clean = tool.name.replace(/[^A-Za-z0-9_-]/gu, '_');
    const isFit = clean === tool.name && clean.length <= MAX_NAME && clean !== '' && !all.has(clean);
    const hash = createHash('sha256').update(tool.name).digest('hex').slice(0, HASH_LENGTH);
    all.set(isFit ? clean : `${clean.slice(0, MAX_NAME - HASH_LENGTH - 1)}_${hash}`, tool);
  }
  return all;
}

function definitionOf(name: string, { description = '', inputSchema }: ProxyTool): ToolDefinition {
  const parameters = inputSchema === undefined ? undefined : plainObject(inputSchema);
  const isUsable = parameters !== undefined && [undefined, 'object'].includes(parameters['type'] as string | undefined);
  return { name, description, effect: 'side_effecting', ...(isUsable && { parameters }) };
}

function lastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1) ?? '';
}
