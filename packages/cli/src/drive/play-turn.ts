import { randomBytes } from 'node:crypto';
import { Agent, type AgentEventSink, type HarnessLogger, type Message, type ModelAdapter } from '@parley/harness';
import type { PlayedTurn } from '@parley/proxy-protocol';
import { contextOptions } from '../agent/context-options.js';
import { CallBook } from './call-book.js';
import type { ContextMemory } from './context-memory.js';
import type { ProxyPorts } from '../proxy-ports.js';
import { RecordingModel } from './recording-model.js';
import { resumeTurn } from './resume-turn.js';
import { TurnTools } from './turn-tools.js';

export interface PlayOptions {
  /** A new adapter each time: each agent starts and stops its own. */
  readonly makeModel: () => ModelAdapter;
  readonly memory: ContextMemory;
  readonly proxy: ProxyPorts;
  readonly maxSteps: number;
  readonly contextTokens: number;
  readonly sinkFor: (turn: PlayedTurn) => AgentEventSink;
  readonly logger: HarnessLogger;
}

/** An answer is on record before it counts as complete, and a record waits for listings and restarts. */
const MODEL_IDLE_MS = 30 * 60_000;
const MODEL_MS = 60 * 60_000;
/** A model may look again and again at something that takes its time. */
const REPEAT_LIMIT = 10;
const GO_ON = 'The work was interrupted and goes on now: continue with what was asked.';

/** Plays one turn with an agent of the harness: its prompt, its tools, one answer. Rejects if there is none. */
export async function playTurn(played: PlayedTurn, options: PlayOptions): Promise<void> {
  const { proxy, memory } = options;
  const { turn, signal } = played;
  const book = new CallBook(proxy.parseExact);
  const tools = new TurnTools(played, await played.tools(), { book, describeResult: proxy.describeResult });
  const resumed = played.wasOpenBefore ? await resumeTurn(played, tools, proxy) : undefined;
  if (resumed?.answer !== undefined) {
    await played.reply(resumed.answer);
    return;
  }
  const model = new RecordingModel(options.makeModel(), { turn: played, tools, book, newId: randomId });
  const agent = makeAgent(played, model, tools, options);
  const prompt = turn.texts.join('\n\n');
  const before: readonly Message[] = memory.get(turn.contextId);
  const isResumed = resumed !== undefined && resumed.messages.length > 0;
  agent.reset(isResumed ? [...before, { role: 'user', content: prompt }, ...resumed.messages] : before);
  try {
    const result = await agent.run(isResumed ? GO_ON : prompt, { signal });
    if (signal.aborted) return;
    if (result.status !== 'completed') throw new Error(result.error ?? `the agent stopped: ${result.stopReason}`);
    memory.keep(turn.contextId, agent.messages);
    await played.reply(result.output ?? '');
  } finally {
    await agent.shutdown();
  }
}

function makeAgent(played: PlayedTurn, model: RecordingModel, tools: TurnTools, options: PlayOptions): Agent {
  const { contextTokens, maxSteps, logger, sinkFor } = options;
  const systemPrompt = systemPromptOf(played);
  return new Agent(model, {
    agentId: 'driver',
    ...(systemPrompt !== undefined && { systemPrompt }),
    handlers: [tools],
    runtimePolicy: {
      maxSteps,
      repeatLimit: REPEAT_LIMIT,
      modelIdleTimeoutMs: MODEL_IDLE_MS,
      modelTimeoutMs: MODEL_MS,
    },
    context: contextOptions(model, contextTokens),
    sinks: [sinkFor(played)],
    logger,
  });
}

/** The turn's own, and where its skills are. */
function systemPromptOf({ turn: { systemPrompt, skills } }: PlayedTurn): string | undefined {
  if (skills.length === 0) return systemPrompt ?? undefined;
  const listed = skills.map(({ name, description, path }) => `- ${name}: ${description} (${path}/SKILL.md)`);
  const about = `Skills that you have; read the file of one before you use it:\n${listed.join('\n')}`;
  return systemPrompt === null ? about : `${systemPrompt}\n\n${about}`;
}

function randomId(): string {
  return `call_${randomBytes(12).toString('hex')}`;
}
