import { getEventListeners } from 'node:events';
import fc from 'fast-check';
import type { ToolControl } from '../enums.js';
import {
  completed,
  read,
  recordedTurn,
  settle,
  started,
  write,
  type RecordedTurn,
} from './recorded-turn.test-helper.js';
import { StepOutcome } from './step-outcome.js';
import type { ToolCallContext } from './tool-handler.js';
import type { ToolTurnOutcome } from './tool-turn.js';

/** What one call does: how many rounds of the event loop it takes, and how it ends. */
interface Plan {
  readonly tool: 'read' | 'write' | 'nope';
  readonly rounds: number;
  readonly end: 'data' | 'throw' | 'hang' | Exclude<ToolControl, 'continue'>;
  readonly brokenArguments: boolean;
  readonly repeated: boolean;
}

interface Scenario {
  readonly calls: readonly Plan[];
  readonly limit: number;
  /** Abort at the so-manieth event; none if there are fewer. */
  readonly abortAt: number;
  readonly failCommitAt: number;
}

const plan = fc.record<Plan>({
  tool: fc.constantFrom('read', 'read', 'read', 'write', 'nope'),
  rounds: fc.nat({ max: 3 }),
  end: fc.constantFrom('data', 'data', 'data', 'data', 'throw', 'hang', 'complete', 'reject', 'cancel'),
  brokenArguments: fc.boolean(),
  repeated: fc.boolean(),
});

const scenario = fc.record<Scenario>({
  calls: fc.array(plan, { maxLength: 10 }),
  limit: fc.integer({ min: 1, max: 4 }),
  abortAt: fc.oneof(fc.constant(Infinity), fc.nat({ max: 12 })),
  failCommitAt: fc.oneof({ weight: 5, arbitrary: fc.constant(Infinity) }, { weight: 1, arbitrary: fc.nat({ max: 4 }) }),
});

interface Watch {
  active: number;
  mostActive: number;
  overlap: boolean;
  readonly ran: string[];
}

async function runs(one: Plan, context: ToolCallContext, watch: Watch): Promise<unknown> {
  watch.ran.push(context.callId);
  watch.active += 1;
  watch.mostActive = Math.max(watch.mostActive, watch.active);
  if (watch.active > 1 && one.tool === 'write') watch.overlap = true;
  try {
    for (let round = 0; round < one.rounds; round += 1) {
      await context.progress.report({ message: 'round' });
      await settle();
    }
    if (one.end === 'throw') throw new Error('kaboom');
    if (one.end === 'hang') await hang(context);
    return new StepOutcome('data', { control: one.end === 'data' || one.end === 'hang' ? 'continue' : one.end });
  } finally {
    watch.active -= 1;
  }
}

/** A call that hangs ends by the abort, or by its time-out of a few milliseconds. */
async function hang({ signal }: ToolCallContext): Promise<never> {
  return await new Promise((_resolve, reject) => {
    const onAbort = () => reject(new Error('gave up'));
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
}

async function play({ calls, limit, abortAt, failCommitAt }: Scenario) {
  const watch: Watch = { active: 0, mostActive: 0, overlap: false, ran: [] };
  const body = (args: Record<string, unknown>, context: ToolCallContext) =>
    runs(calls[Number(context.callId.slice(1)) - 1] as Plan, context, watch);
  const runtime = await started([read('read', body), write('write', body)], {
    policy: { parallelToolCalls: limit > 1, maxParallelToolCalls: limit, abortGraceMs: 10_000, toolTimeoutMs: 5 },
  });
  let events = 0;
  let commits = 0;
  const failure = new Error('journal');
  const turn = recordedTurn(
    calls.map((one, index) => ({
      id: `c${index + 1}`,
      name: one.tool,
      arguments: one.brokenArguments && index % 4 === 0 ? '{"half' : one.repeated ? '{}' : `{"n": ${index}}`,
    })),
    {
      onEvent: (_payload, self) => {
        if ((events += 1) === abortAt + 1) self.controller.abort(new Error('stop'));
      },
      onCommit: () => ((commits += 1) === failCommitAt + 1 ? Promise.reject(failure) : undefined),
    },
  );
  const outcome = await runtime.runTurn(turn).catch((error: unknown) => error);
  return { turn, watch, outcome, failure };
}

function idsOf(turn: RecordedTurn): string[] {
  return turn.message.toolCalls.map((call) => call.id);
}

function checkOrder(turn: RecordedTurn): void {
  const at = (line: string) => turn.log.indexOf(line);
  const commitOf = (id: string) =>
    turn.log.findIndex((line) => line.startsWith('committed') && line.split(' ').includes(id));
  for (const id of turn.committed.map((message) => message.toolCallId)) {
    expect(at(`started ${id}`)).toBeGreaterThanOrEqual(0);
    expect(at(`started ${id}`)).toBeLessThan(commitOf(id));
    const progress = turn.log.lastIndexOf(`progressed ${id}`);
    if (at(`completed ${id}`) >= 0) {
      expect(commitOf(id)).toBeLessThan(at(`completed ${id}`));
      expect(progress).toBeLessThan(at(`completed ${id}`));
    }
  }
}

function checkOutcome(turn: RecordedTurn, outcome: ToolTurnOutcome): void {
  const controls = completed(turn).map(({ result }) => result.control);
  const first = completed(turn).find(
    ({ result }) => result.control !== 'continue' || result.message.content.includes('repeated_tool_call'),
  );
  if (turn.signal.aborted) expect(outcome).toEqual({ kind: 'aborted' });
  else if (first === undefined)
    expect([outcome.kind, controls.every((control) => control === 'continue')]).toEqual(['continue', true]);
  else {
    const reasons = {
      complete: 'tool_completion',
      reject: 'tool_rejected',
      cancel: 'tool_cancelled',
      continue: 'repeated_tool_call',
    };
    expect(outcome).toMatchObject({ kind: 'ended', stopReason: reasons[first.result.control] });
  }
}

describe('any batch of calls', () => {
  it('is settled once per call, in source order, with nothing left running', async () => {
    await fc.assert(
      fc.asyncProperty(scenario, async (given) => {
        const { turn, watch, outcome, failure } = await play(given);
        expect(watch.active).toBe(0);
        expect(watch.overlap).toBe(false);
        expect(watch.mostActive).toBeLessThanOrEqual(given.limit);
        expect(getEventListeners(turn.signal, 'abort')).toHaveLength(0);
        expect(new Set(watch.ran).size).toBe(watch.ran.length);
        checkOrder(turn);
        const ids = idsOf(turn);
        if (outcome === failure) {
          expect(completed(turn).map(({ toolCall }) => toolCall.id)).toEqual(ids.slice(0, completed(turn).length));
          return;
        }
        expect(turn.committed.map((message) => message.toolCallId)).toEqual(ids);
        expect(completed(turn).map(({ toolCall }) => toolCall.id)).toEqual(ids);
        expect(completed(turn).map(({ result }) => result.message)).toEqual(turn.committed);
        expect(turn.log.filter((line) => line.startsWith('started'))).toEqual(ids.map((id) => `started ${id}`));
        for (const { toolCall, result } of completed(turn)) {
          const neverRan = !watch.ran.includes(toolCall.id);
          if (result.message.content.includes('cancelled_before_start')) expect(neverRan).toBe(true);
          if (result.message.content.includes('outcome_unknown')) expect(neverRan).toBe(false);
        }
        checkOutcome(turn, outcome as ToolTurnOutcome);
      }),
      { seed: 7, numRuns: 400 },
    );
  }, 60_000);
});
