import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { parseExact } from '../json/index.js';
import { canonicalJson } from './canonical-json.js';
import { chainHash, FIRST_HASH } from './chain-hash.js';
import { chained, foreignTurn, TRACE_ID } from './sample-turn.test-helper.js';
import type { TrajectoryEvent } from './trajectory-event.js';
import { verifyTrajectory } from './verify-trajectory.js';

type Path = readonly (string | number)[];

/** Ways to all values inside, members and items. */
function pathsOf(value: unknown, at: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [at];
  const inside = Object.entries(value).flatMap(([name, member]) => pathsOf(member, [...at, name]));
  return at.length === 0 ? inside : [at, ...inside];
}

function changed(value: unknown, path: Path, change: (old: unknown) => unknown): unknown {
  const [name, ...rest] = path;
  if (name === undefined) return change(value);
  const copy: Record<string, unknown> = { ...(value as Record<string, unknown>) };
  const member = changed(copy[name], rest, change);
  if (member !== undefined) return { ...copy, [name]: member };
  return Object.fromEntries(Object.entries(copy).filter(([other]) => other !== name));
}

const CHANGES: readonly ((old: unknown) => unknown)[] = [
  () => undefined,
  () => null,
  () => ({ new: 1 }),
  (old) => (typeof old === 'string' ? `${old} ` : String(old)),
  (old) => (typeof old === 'number' ? old + 1 : 0),
  (old) => (typeof old === 'object' ? { ...old, more: 'x' } : [old]),
];

describe('verification', () => {
  const events = chained(foreignTurn());

  it('takes a record as it is, and gives the digest of its turn as the head', () => {
    expect(verifyTrajectory(events)).toEqual({ outcome: 'verified', heads: [events.at(-1)?.hash], isClosed: true });
  });

  it('takes it however its JSON is written: members in another order, numbers in another form', () => {
    const text = JSON.stringify(events.map((event) => Object.fromEntries(Object.entries(event).reverse())));
    const other = text.replaceAll('"gen_ai.usage.input_tokens":11', '"gen_ai.usage.input_tokens":1.10e1');
    expect(other).not.toBe(text);
    expect(verifyTrajectory(parseExact(other) as unknown as TrajectoryEvent[]).outcome).toBe('verified');
  });

  it('finds the change of any member of any event, at that event', () => {
    const places = events.flatMap((event, index) => pathsOf(event).map((path) => ({ index, path })));
    fc.assert(
      fc.property(fc.constantFrom(...places), fc.constantFrom(...CHANGES), ({ index, path }, change) => {
        const event = events[index];
        const other = changed(event, path, change) as TrajectoryEvent;
        fc.pre(canonicalJson(other) !== canonicalJson(event));
        const found = verifyTrajectory(events.map((one, at) => (at === index ? other : one)));
        expect(found).toMatchObject({ outcome: 'broken', index });
      }),
      { numRuns: 1_000 },
    );
  });

  it('finds an event that was taken out, added or moved', () => {
    for (let index = 0; index < events.length - 1; index += 1) {
      expect(verifyTrajectory(events.toSpliced(index, 1))).toMatchObject({ outcome: 'broken', index });
      const twice = events.toSpliced(index, 0, ...events.slice(index, index + 1));
      expect(verifyTrajectory(twice)).toMatchObject({ outcome: 'broken', index: index + 1 });
      const moved = [
        ...events.slice(0, index),
        ...events.slice(index, index + 2).reverse(),
        ...events.slice(index + 2),
      ];
      expect(verifyTrajectory(moved)).toMatchObject({ outcome: 'broken', index });
    }
  });

  it('says that a record without its end is not closed', () => {
    const open = events.slice(0, 3);
    expect(verifyTrajectory(open)).toEqual({ outcome: 'verified', heads: [open[2]?.hash], isClosed: false });
  });

  it('takes the turns of a context one after the other, and finds one of another task in between', () => {
    const second = chained(foreignTurn(), 'd'.repeat(32));
    expect(verifyTrajectory([...events, ...second])).toMatchObject({ outcome: 'verified', isClosed: true });
    expect(verifyTrajectory([...events.slice(0, 2), ...second])).toMatchObject({ outcome: 'broken', index: 2 });
  });

  it('says that there is nothing to verify where no event has a digest, and which one has lost its own', () => {
    expect(verifyTrajectory(foreignTurn()).outcome).toBe('nothing_to_verify');
    expect(verifyTrajectory([]).outcome).toBe('nothing_to_verify');
    const { hash: _hash, ...bare } = events[2] as TrajectoryEvent;
    expect(verifyTrajectory(events.with(2, bare))).toMatchObject({ outcome: 'broken', index: 2 });
  });

  it('is as its rule says', () => {
    const event = { ...foreignTurn()[1], trace_id: TRACE_ID } as TrajectoryEvent;
    const text =
      `${FIRST_HASH}\n{"attributes":{"gen_ai.completion":"{\\"output\\": \\"5\\"}","gen_ai.operation.name":"execute_tool",` +
      `"gen_ai.prompt":"{\\"input\\": {\\"a\\": 2, \\"b\\": 3}}"},"end_time":"2026-11-29T21:36:03.220000+00:00","name":"add",` +
      `"start_time":"2026-11-29T21:36:03.210000+00:00","status":{"status_code":"OK"},"trace_id":"${TRACE_ID}"}`;
    expect(chainHash(FIRST_HASH, event)).toBe(createHash('sha256').update(text).digest('hex'));
  });
});

describe('canonical JSON', () => {
  it.each([
    ['1.0', '1'],
    ['10e-1', '1'],
    ['-0', '0'],
    ['-0.0e5', '0'],
    ['1e400', '1e400'],
    ['12345678901234567890', '1234567890123456789e1'],
    ['0.1', '0.1'],
    ['1E2', '100'],
    ['-1.50', '-1.5'],
  ])('writes %s as %s', (written, canonical) => {
    expect(canonicalJson(parseExact(written))).toBe(canonical);
  });

  it('tells numbers apart that one double stands for', () => {
    const texts = ['9007199254740992', '9007199254740993', '9007199254740993.0'].map((text) =>
      canonicalJson(parseExact(text)),
    );
    expect(new Set(texts).size).toBe(2);
  });

  it('does not depend on the order of members, at any depth', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const turned = (one: unknown): unknown =>
          Array.isArray(one)
            ? one.map(turned)
            : typeof one === 'object' && one !== null
              ? Object.fromEntries(
                  Object.entries(one)
                    .reverse()
                    .map(([name, member]) => [name, turned(member)]),
                )
              : one;
        expect(canonicalJson(turned(value))).toBe(canonicalJson(value));
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
      { numRuns: 200 },
    );
  });
});
