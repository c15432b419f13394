// One agent with a scripted model, scripted tools and a log; scenarios play it, and `document` says what happened.
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, MethodToolHandler, StepOutcome } from '@parley/harness';

export const call = (id, name, args = {}) => ({
  id,
  name,
  arguments: typeof args === 'string' ? args : JSON.stringify(args),
});

const usageOf = (total) => ({
  inputTokens: total - 1,
  outputTokens: 1,
  totalTokens: total,
  cacheReadTokens: null,
  cacheWriteTokens: null,
  reasoningTokens: null,
});

/** A whole answer. `usage` in tokens; null reports none. */
export function respond(text, calls = [], usage = 10) {
  return {
    type: 'completed',
    response: {
      message: { role: 'assistant', content: text, toolCalls: calls },
      usage: usage === null ? null : usageOf(usage),
      finishReason: calls.length > 0 ? 'tool_calls' : 'stop',
    },
  };
}

export const say = (text, ...calls) => respond(text, calls);

/** Plays one step per request: stream events, an error, or a function that gives one of them. */
class Script {
  name = 'script';
  sent = [];

  constructor(steps) {
    this.steps = [...steps];
  }

  async *stream(request, signal) {
    this.sent.push([...request.messages]);
    let step = this.steps.shift() ?? say('(script empty)');
    if (typeof step === 'function') step = await step(request, signal);
    if (step instanceof Error) throw step;
    for (const event of Array.isArray(step) ? step : [step]) {
      if (event instanceof Error) throw event;
      yield event;
    }
  }
}

const object = { type: 'object' };
const typed = {
  type: 'object',
  properties: { n: { type: 'integer' } },
  required: ['n'],
  additionalProperties: false,
};
const tool = (name, effect, parameters = object) => ({ name, description: name[0], effect, parameters });

class Tools extends MethodToolHandler {
  log = [];
  /** Resolves when a tool that hangs has begun. */
  begun = Promise.withResolvers();
  seen = new Map();

  constructor() {
    super([
      ...['read_a', 'read_b', 'read_end'].map((name) => tool(name, 'read_only')),
      tool('typed', 'side_effecting', typed),
      ...['write', 'boom', 'hang', 'stubborn', 'finish', 'refuse', 'giveup', 'report'].map((name) =>
        tool(name, 'side_effecting'),
      ),
    ]);
  }

  /** Resolves when the log has this line. */
  logged(line) {
    if (this.log.includes(line)) return Promise.resolve();
    const waiting = this.seen.get(line) ?? Promise.withResolvers();
    this.seen.set(line, waiting);
    return waiting.promise;
  }

  note(line) {
    this.log.push(line);
    this.seen.get(line)?.resolve();
  }

  async doReadA(_args, { signal }) {
    this.note('read_a+');
    await sleep(30, undefined, { signal });
    this.note('read_a-');
    return { v: 'a' };
  }

  async doReadB(_args, { signal }) {
    this.note('read_b+');
    await sleep(5, undefined, { signal });
    this.note('read_b-');
    return { v: 'b' };
  }

  async doReadEnd() {
    this.note('read_end');
    return new StepOutcome({ v: 'end' }, { control: 'complete' });
  }

  async doWrite() {
    this.note('write');
    return 'written';
  }

  async doTyped(args) {
    this.note('typed');
    return { got: args.n };
  }

  async doBoom() {
    this.note('boom');
    throw new Error('kaboom');
  }

  async doHang(_args, { signal }) {
    this.note('hang+');
    this.begun.resolve();
    try {
      await sleep(30_000, undefined, { signal });
    } finally {
      this.note('hang-cleanup');
    }
    return 'late';
  }

  async doStubborn(_args, { signal }) {
    this.note('stubborn+');
    this.begun.resolve();
    signal.addEventListener('abort', () => this.note('stubborn-ignored'), { once: true });
    await sleep(200);
    this.note('stubborn-');
    return 'done anyway';
  }

  async doFinish() {
    this.note('finish');
    return new StepOutcome({ done: true }, { control: 'complete' });
  }

  async doRefuse() {
    return new StepOutcome('no', { control: 'reject' });
  }

  async doGiveup() {
    return new StepOutcome('stop', { control: 'cancel' });
  }

  async doReport(_args, { progress }) {
    await progress.report({ message: 'half', data: { done: 1 } });
    await progress.report({ message: 'full' });
    return 'reported';
  }
}

const ROWS = {
  agent_started: ({ task }) => ({ task }),
  steering_applied: ({ control, targetTurn }) => ({ target_turn: targetTurn, content: control.content }),
  steering_discarded: ({ control, reason }) => ({ content: control.content, reason }),
  assistant_text_delta: ({ delta }) => ({ delta }),
  assistant_thinking_delta: ({ delta }) => ({ delta }),
  tool_progressed: ({ update }) => ({ update: [update.message, update.data ?? null] }),
  tool_completed: ({ result }) => ({
    content: [result.message.content],
    control: result.control,
    cancelled: result.cancelled,
    error: result.error,
  }),
  message_completed: ({ message, usage }) => ({
    text: message.content,
    calls: message.toolCalls.map(({ id, name }) => `${id}:${name}`),
    usage: usage?.totalTokens ?? null,
  }),
  context_pressure_evaluated: ({ decision, preparation }) => ({
    should_compact: decision.shouldCompact,
    reason: decision.reason,
    tokens: decision.estimate.totalTokens,
    source: decision.estimate.source,
    can_compact: preparation?.canCompact ?? null,
  }),
  compaction_started: ({ request }) => ({
    trigger: request.trigger,
    summarize: request.preparation.messagesToSummarize.length,
    keep: request.preparation.messagesToKeep.length,
  }),
  compaction_completed: ({ result }) => ({ status: result.status, error: result.error }),
  compaction_failed: ({ result }) => ({ status: result.status, error: result.error }),
  agent_finished: ({ result }) => ({ result: plain(result) }),
};

/** Every event as a row; `on[kind]` is awaited after it, as a sink is. */
class Log {
  rows = [];
  on = {};
  #runs = [];

  async emit({ runId, sequence, payload }) {
    if (!this.#runs.includes(runId)) this.#runs.push(runId);
    const row = {
      run: this.#runs.indexOf(runId) + 1,
      seq: sequence,
      kind: payload.kind,
      ...('turn' in payload ? { turn: payload.turn } : {}),
      ...('toolCall' in payload ? { call: `${payload.toolCall.id}:${payload.toolCall.name}` } : {}),
      ...ROWS[payload.kind]?.(payload),
    };
    this.rows.push(row);
    await this.on[payload.kind]?.(row);
  }
}

export function plain(result) {
  if (result instanceof Error) return { raised: result.name, text: result.message };
  const { status, stopReason, turns, output, error, usage } = result;
  return {
    status,
    stop_reason: stopReason,
    turns,
    output,
    error,
    usage: [usage.totalTokens ?? 0, usage.requestCount, usage.reportedRequestCount],
  };
}

function short(message) {
  const { role, content, toolCallId, toolCalls = [] } = message;
  const id = toolCallId === undefined ? '' : `[${toolCallId}]`;
  const text =
    content === null || content === '' ? '' : `: ${content.length < 160 ? content : `${content.slice(0, 157)}...`}`;
  const calls = toolCalls.length === 0 ? '' : ` calls=${toolCalls.map((one) => `${one.id}:${one.name}`).join(',')}`;
  return role + id + text + calls;
}

function orphans(messages) {
  const open = [];
  for (const { role, toolCalls = [], toolCallId } of messages) {
    open.push(...toolCalls.map(({ id }) => id));
    if (role === 'tool' && open.includes(toolCallId)) open.splice(open.indexOf(toolCallId), 1);
  }
  return open;
}

export class Lab {
  results = [];
  notes = {};
  log = new Log();
  tools = new Tools();

  constructor(steps, { tools = true, handlers, policy, ...options } = {}) {
    this.model = new Script(steps);
    this.agent = new Agent(this.model, {
      agentId: 'lab',
      systemPrompt: 'SYS',
      handlers: handlers ?? (tools ? [this.tools] : []),
      sinks: [this.log],
      ...(policy === undefined ? {} : { runtimePolicy: policy }),
      ...options,
    });
  }

  async run(task = 'go', options = {}) {
    return this.#keep(this.agent.run(task, options));
  }

  async cont() {
    return this.#keep(this.agent.continueRun());
  }

  async #keep(running) {
    const result = await running.catch((error) => error);
    this.results.push(result);
    return result;
  }

  /** The whole story in the form that the recorded peer has. */
  async document() {
    const { agent, model, log, tools } = this;
    const document = {
      results: this.results.map(plain),
      events: log.rows,
      tool_log: tools.log,
      history: [{ role: 'system', content: 'SYS' }, ...agent.messages].map(short),
      sent_last: (model.sent.at(-1) ?? []).map(short),
      requests: model.sent.length,
      orphans: orphans(agent.messages),
      can_continue: agent.canContinue,
      continue_rejection: agent.continueRejectionReason,
      notes: this.notes,
    };
    await agent.shutdown();
    return document;
  }

  sentShort() {
    return this.model.sent.map((messages) => messages.map(short));
  }
}
