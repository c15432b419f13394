import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { DIFFERENCES, inRecordedWords } from '../../bench/harness/traces/differences.mjs';
import { play, scenarioNames } from '../../bench/harness/traces/scenarios.mjs';
import { table } from './markdown-tables.js';

type Document = Readonly<Record<string, unknown>>;

/** What EJAgent Core 0.6.0 does in the same scenarios, as it was recorded. */
const recorded = JSON.parse(
  readFileSync(join(import.meta.dirname, 'fixtures', 'ejagent-0.6.0-traces.json'), 'utf8'),
) as Readonly<Record<string, Document>>;

const listed = new Map(DIFFERENCES.map((difference) => [difference.scenario, difference]));

const worded = (document: Document | undefined) => inRecordedWords(document) as Document;

describe('the scenarios', () => {
  it('are the seventy-three that were recorded', () => {
    expect([...scenarioNames].sort()).toEqual(Object.keys(recorded).sort());
    expect(scenarioNames).toHaveLength(73);
  });

  it.each(scenarioNames)('%s: the same events, results and history, but for what is listed', async (name) => {
    const ours = worded(JSON.parse(JSON.stringify(await play(name))) as Document);
    const theirs = worded(recorded[name]);
    const differing = Object.keys(theirs).filter((field) => !isDeepStrictEqual(ours[field], theirs[field]));
    expect(differing.sort()).toEqual([...(listed.get(name)?.fields ?? [])].sort());
  });

  it.each(scenarioNames)('%s leaves no call without its result', async (name) => {
    expect((await play(name)).orphans).toEqual([]);
  });

  it('that differ have a number that the list in the documentation explains', () => {
    const numbers = table('docs/harness-api.md', 'Differences').map(({ number }) => number);
    expect([...new Set(DIFFERENCES.map(({ number }) => number))].filter((number) => !numbers.includes(number))).toEqual(
      [],
    );
    expect(numbers).toEqual(expect.arrayContaining(Array.from({ length: 24 }, (_, at) => `E${String(at + 1)}`)));
  });
});
