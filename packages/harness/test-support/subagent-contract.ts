import { getEventListeners } from 'node:events';
import { SubagentRegistry } from '../src/subagents/subagent-registry.js';
import type {
  SubagentCapabilities,
  SubagentProvider,
  SubagentRequest,
  SubagentRun,
  SubagentUpdate,
} from '../src/subagents/subagent-types.js';

/**
 * What the children of a subject do:
 * `answers` with CONTRACT_ANSWER, after at least one update; `hangs` until it is cancelled, after it has begun;
 * `fails`, `max-tokens`, `refusal` as the stop reasons say; `cannot-start`: none can be started;
 * `structured`: hands in CONTRACT_VALUE.
 */
export type SubagentScenario = 'answers' | 'hangs' | 'fails' | 'max-tokens' | 'refusal' | 'cannot-start' | 'structured';

export const CONTRACT_ANSWER = 'the answer of the child';
export const CONTRACT_VALUE = { total: 3 };
export const CONTRACT_SCHEMA = {
  type: 'object',
  properties: { total: { type: 'integer' } },
  required: ['total'],
} as const;

export interface SubagentContractSubject {
  readonly provider: SubagentProvider;
  /** Children that were ever begun, those too whose start failed later. */
  startedChildren(): number | Promise<number>;
  /** Children, with everything that is theirs (agents, processes, connections), that are not gone. */
  liveChildren(): number | Promise<number>;
  /** Ends what a failed test has left. */
  close(): Promise<void>;
}

export interface SubagentContract {
  readonly name: string;
  readonly open: (scenario: SubagentScenario) => SubagentContractSubject | Promise<SubagentContractSubject>;
  /** What children of this kind can never come to; `structured` for a provider without output schemas. */
  readonly without?: readonly SubagentScenario[];
}

const MAX_DIAGNOSTIC_BYTES = 4_096;

/** The promises of the seam, to be kept by every provider. */
export function describeSubagentProvider({ name, open, without = [] }: SubagentContract): void {
  describe(`subagent provider ${name}`, () => {
    let subject: SubagentContractSubject;
    let controller: AbortController;

    beforeEach(() => {
      controller = new AbortController();
    });

    afterEach(async () => {
      await subject.close();
    });

    const can = (scenario: SubagentScenario): boolean => !without.includes(scenario);

    async function start(scenario: SubagentScenario, more: Partial<SubagentRequest> = {}): Promise<SubagentRun> {
      subject = await open(scenario);
      return subject.provider.start({ ...requestOf(controller.signal), ...more });
    }

    it('completes with the answer of the child, and tells what it does on the way', async () => {
      const run = await start('answers');
      const updates = await readAll(run.updates);
      const result = await run.result;
      expect(result).toMatchObject({ stopReason: 'completed', output: CONTRACT_ANSWER });
      expect(result.diagnostic).toBeUndefined();
      expect(updates.length).toBeGreaterThan(0);
      await run.dispose();
    });

    it('completes though nobody reads the updates', async () => {
      const run = await start('answers');
      expect((await run.result).stopReason).toBe('completed');
      await run.dispose();
    });

    it('gives runs ids of their own and keeps them apart', async () => {
      const first = await start('answers');
      const second = await subject.provider.start(requestOf(controller.signal));
      expect(first.id).not.toBe(second.id);
      expect((await Promise.all([first.result, second.result])).map((result) => result.output)).toEqual([
        CONTRACT_ANSWER,
        CONTRACT_ANSWER,
      ]);
      await Promise.all([first.dispose(), second.dispose()]);
      expect(await subject.liveChildren()).toBe(0);
    });

    const endings = (['fails', 'max-tokens', 'refusal'] as const).filter(can);
    it.each(endings)('resolves, never rejects, when the child ends like this: %s', async (scenario) => {
      const stopReason = scenario === 'fails' ? 'error' : scenario;
      const run = await start(scenario);
      const result = await run.result;
      expect(result.stopReason).toBe(stopReason);
      expect(Buffer.byteLength(result.diagnostic ?? '')).toBeLessThanOrEqual(MAX_DIAGNOSTIC_BYTES);
      if (stopReason === 'error') expect(result.diagnostic).toMatch(/\S/u);
      await run.dispose();
      expect(await subject.liveChildren()).toBe(0);
    });

    it('is aborted by cancel, as often as it is called, and its updates end', async () => {
      const run = await start('hangs');
      const updates = readAll(run.updates);
      run.cancel('enough');
      run.cancel();
      expect((await run.result).stopReason).toBe('aborted');
      await updates;
      run.cancel();
      expect((await run.result).stopReason).toBe('aborted');
      await run.dispose();
      expect(await subject.liveChildren()).toBe(0);
    });

    it('is aborted with the signal of the request, and leaves no listener on it', async () => {
      const run = await start('hangs');
      expect(await subject.liveChildren()).toBe(1);
      controller.abort(new Error('the parent was aborted'));
      expect((await run.result).stopReason).toBe('aborted');
      await run.dispose();
      expect(await subject.liveChildren()).toBe(0);
      expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
    });

    it('leaves no listener on the signal of a run that completed', async () => {
      const run = await start('answers');
      await run.result;
      await run.dispose();
      expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
    });

    it('is not changed by a cancel after its end', async () => {
      const run = await start('answers');
      await run.result;
      run.cancel();
      controller.abort();
      expect(await run.result).toMatchObject({ stopReason: 'completed', output: CONTRACT_ANSWER });
      await run.dispose();
    });

    it('disposes of a running child: it is cancelled, and gone when dispose resolves, the second time too', async () => {
      const run = await start('hangs');
      await Promise.all([run.dispose(), run.dispose()]);
      expect(await subject.liveChildren()).toBe(0);
      expect((await run.result).stopReason).toBe('aborted');
      await run.dispose();
    });

    it('starts nothing for a request that is cancelled already', async () => {
      controller.abort(new Error('too late'));
      await expect(start('answers')).rejects.toThrow();
      expect(await subject.liveChildren()).toBe(0);
    });

    it('leaves nothing behind when it is cancelled while it starts', async () => {
      const starting = start('hangs');
      setImmediate(() => controller.abort(new Error('changed my mind')));
      const run = await starting.catch(() => undefined);
      if (run !== undefined) {
        expect((await run.result).stopReason).toBe('aborted');
        await run.dispose();
      }
      expect(await subject.liveChildren()).toBe(0);
      expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
    });

    if (can('cannot-start')) {
      it('rejects a start that fails, with everything cleaned up', async () => {
        await expect(start('cannot-start')).rejects.toThrow();
        expect(await subject.liveChildren()).toBe(0);
        expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
      });
    }

    it('is refused by the registry, before any child exists, what it cannot enforce', async () => {
      subject = await open('answers');
      for (const [capability, more] of Object.entries(NEEDS)) {
        // One that it has is taken away: the rule is tried for every provider.
        const capabilities = { ...subject.provider.capabilities, [capability]: false };
        const registry = new SubagentRegistry();
        registry.register('subject', { capabilities, start: (request) => subject.provider.start(request) });
        const refused = registry.start('subject', { ...requestOf(controller.signal), ...more });
        await expect(refused).rejects.toMatchObject({ code: 'subagent_capability_missing', capability });
      }
      expect(await subject.startedChildren()).toBe(0);
    });

    if (can('structured')) {
      it('gives a value that fits the schema', async () => {
        const run = await start('structured', { outputSchema: CONTRACT_SCHEMA });
        expect(await run.result).toMatchObject({ stopReason: 'completed', structured: CONTRACT_VALUE });
        await run.dispose();
      });
    }
  });
}

const NEEDS: Readonly<Record<keyof SubagentCapabilities, Partial<SubagentRequest>>> = {
  outputSchema: { outputSchema: CONTRACT_SCHEMA },
  depthLimit: { maxDepth: 2 },
  toolFilter: { toolFilter: { include: ['read'] } },
  persona: { persona: 'a careful reviewer' },
};

function requestOf(signal: AbortSignal): SubagentRequest {
  return {
    label: 'contract',
    prompt: [{ type: 'text', text: 'Do what the contract says.' }],
    parent: { agentId: 'parent', depth: 0 },
    signal,
  };
}

async function readAll(updates: AsyncIterable<SubagentUpdate>): Promise<SubagentUpdate[]> {
  const all: SubagentUpdate[] = [];
  for await (const update of updates) all.push(update);
  return all;
}
