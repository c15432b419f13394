import { parseExact } from '@parley/proxy-protocol';
import { BASH, expectedCalls } from '../domain/expected-calls.js';
import { type Json, type OfferedTool, type RecordedBlock, Refusal } from '../domain/facts.js';
import { whyNotJson } from '../domain/json-values.js';
import { readRecordedMessage } from '../domain/read-recorded-message.js';
import { callsNotRun, noOpenTurn } from '../domain/refusals.js';
import type { EngineCore } from './engine-core.js';
import type { ProxyEngine } from './engine-types.js';
import type { TurnRun } from './turn-run.js';

const BASH_TOOL: OfferedTool = {
  name: BASH,
  description:
    'Run a bash command where the agent works, as its user, in its folder; returns its stdout, then its stderr.',
  inputSchema: {
    type: 'object',
    properties: { command: { type: 'string', description: 'The command.' } },
    required: ['command'],
  },
};

const SH_TOOL: OfferedTool = {
  ...BASH_TOOL,
  description:
    'Run a command where the agent works, as its user, in its folder, with the plain POSIX sh: there is no bash here, ' +
    'so what only bash knows ([[ ]], arrays, <(...)) fails. Returns its stdout, then its stderr.',
};

type Ask<K extends 'tools' | 'record'> = Parameters<ProxyEngine[K]>[0];

/** What a turn can call, and the model calls that a driver reports. */
export class DriverRecord {
  constructor(private readonly core: EngineCore) {}

  async tools({ token, taskId, signal }: Ask<'tools'>): Promise<readonly OfferedTool[]> {
    this.core.checkToken(token);
    return this.#list(taskId, signal);
  }

  async record(ask: Ask<'record'>): Promise<void> {
    const blocks = readRecordedMessage(ask.message, parseArguments);
    const fault = ask.usage === null ? undefined : whyNotJson(ask.usage);
    if (fault !== undefined) throw new Refusal(400, `the usage can't be kept: it ${fault}`);
    this.core.checkToken(ask.token);
    const { run } = this.core.openTurn(ask.taskId);
    const offered = run.offered ?? (await this.#learnOffered(run, ask.signal));
    const admitted = run.gate.hold();
    if (admitted !== undefined) await admitted;
    try {
      const kept = this.#keep(ask, blocks, offered);
      if (kept !== undefined) await kept;
      run.unusedSpanId = undefined;
    } finally {
      run.gate.release();
    }
  }

  #keep(
    { taskId, model, usage }: Ask<'record'>,
    blocks: readonly RecordedBlock[],
    offered: ReadonlyMap<string, boolean>,
  ): Promise<void> | undefined {
    const { state, run } = this.core.openTurn(taskId);
    if (state.expected.size > 0) throw callsNotRun(state.expected.names());
    run.unusedSpanId ??= this.core.random(8);
    return this.core.keeper.keep(taskId, {
      kind: 'recorded',
      taskId,
      at: this.core.times.now(),
      blocks,
      expected: expectedCalls(blocks, (name) => offered.get(name)),
      ...(model !== null && model !== '' && { model }),
      ...(usage !== null && { usage }),
      spanId: run.unusedSpanId,
    });
  }

  async #learnOffered(run: TurnRun, signal: AbortSignal): Promise<ReadonlyMap<string, boolean>> {
    const tools = await this.#list(run.taskId, signal);
    run.offered = new Map(tools.map(({ name, server }) => [name, server === undefined]));
    return run.offered;
  }

  async #list(taskId: string, signal: AbortSignal): Promise<readonly OfferedTool[]> {
    const { state, run } = this.core.openTurn(taskId);
    const listed = await run.within(signal, (ends) => run.toolsOf(state).list(ends));
    if (this.core.state.openTurn(taskId) === undefined) throw noOpenTurn(taskId);
    const { commands } = this.core;
    if (commands === undefined) return listed;
    return [commands.isBash ? BASH_TOOL : SH_TOOL, ...listed];
  }
}

/** What a model wrote as arguments; `NaN` and the like are no JSON, and could not be kept. */
function parseArguments(text: string): Json {
  return parseExact(text, { nonFinite: false });
}
