import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AcpSubagentProvider } from '@parley/acp';
import { InProcessSubagentProvider } from '@parley/harness';
import { acpDeadlines } from '../../packages/acp/src/client/acp-deadlines.js';
import { promptEnd } from '../../packages/acp/src/client/stop-reasons.js';
import { table, tables, type TableRow } from './markdown-tables.js';

const DOCUMENT = 'docs/subagents.md';
const root = join(import.meta.dirname, '..', '..');
const source = (file: string): string => readFileSync(join(root, 'packages', file), 'utf8');

interface Member {
  readonly name: string;
  readonly isRequired: boolean;
  /** What its comment says that it is without a value. */
  readonly told: string | undefined;
}

/** The members of an interface, with the last default of their comments. */
function members(file: string, name: string): Member[] {
  const [, body = ''] = new RegExp(`^export interface ${name} \\{\\n(.*?)^\\}`, 'msu').exec(source(file)) ?? [];
  const member = /^ {2}(?:\/\*\*(.*?)\*\/\s+)?readonly (\w+)(\??):/gmsu;
  return [...body.matchAll(member)].map(([, comment = '', called = '', mark]) => ({
    name: called,
    isRequired: mark === '',
    told: /Default:? ([^;:]+?)\.(?:\s|$)/u.exec(comment)?.[1],
  }));
}

/** `1,048,576` and `1_048_576` as they are printed. */
const plainNumber = (text: string | undefined): string | undefined =>
  text !== undefined && /^[\d,_]+$/u.test(text) ? text.replaceAll(/[,_]/gu, '') : undefined;

function constant(file: string, name: string): number {
  const [, value = ''] = new RegExp(`^const ${name} = ([\\d_ *]+);`, 'mu').exec(source(file)) ?? [];
  return value.split('*').reduce((product, factor) => product * Number(factor.replaceAll('_', '')), 1);
}

const numbersOf = (rows: readonly TableRow[]): Record<string, number> =>
  Object.fromEntries(
    rows.flatMap(({ option = '', default: standard = '' }) =>
      /^\d+$/u.test(standard) ? [[option, Number(standard)]] : [],
    ),
  );

describe.each([
  ['in-process', 'harness/src/subagents/in-process-provider.ts', 'InProcessSubagentOptions'],
  ['a2a', 'skills/src/subagents/a2a-subagent-options.ts', 'A2aSubagentOptions'],
  ['Options', 'acp/src/client/acp-options.ts', 'AcpSubagentOptions'],
])('the options below "%s" of subagents.md', (heading, file, name) => {
  const rows = table(DOCUMENT, heading);
  const inCode = members(file, name);

  it('are those of the code', () => {
    expect(rows.map(({ option }) => option).sort()).toEqual(inCode.map((member) => member.name).sort());
  });

  it('are required where they are', () => {
    const required = rows.filter((row) => row['default'] === 'required').map(({ option }) => option);
    expect(required.sort()).toEqual(inCode.flatMap((member) => (member.isRequired ? [member.name] : [])).sort());
  });

  it('have the numbers that the comments of the code tell', () => {
    const told = inCode.flatMap((member) => {
      const number = plainNumber(member.told);
      return number === undefined ? [] : [[member.name, Number(number)]];
    });
    expect(numbersOf(rows)).toEqual(Object.fromEntries(told));
  });
});

describe('the provider acp in subagents.md', () => {
  it('has the limits that the code has', () => {
    expect(numbersOf(table(DOCUMENT, 'Options'))).toEqual({
      permissionTimeoutMs: constant('acp/src/client/acp-provider.ts', 'DEFAULT_PERMISSION_MS'),
      maxOutputBytes: constant('acp/src/client/acp-provider.ts', 'DEFAULT_OUTPUT_BYTES'),
      maxMessageBytes: constant('acp/src/wire/child-stream.ts', 'DEFAULT_MESSAGE_BYTES'),
      maxGarbageLines: constant('acp/src/wire/child-stream.ts', 'DEFAULT_GARBAGE_LINES'),
    });
  });

  it('has its deadlines', () => {
    const printed = table(DOCUMENT, 'Deadlines, cancel and end').map((row) => [
      row['deadline'],
      Number(row['default (ms)']),
    ]);
    expect(Object.fromEntries(printed)).toEqual(acpDeadlines());
  });

  it('has its stop reasons', () => {
    const [, rows = []] = tables(DOCUMENT, 'Deadlines, cancel and end');
    const words = rows.flatMap((row): [string, string][] => {
      const [said = ''] = (row['the child says or does'] ?? '').split(',');
      return /^[a-z_]+$/u.test(said) ? [[said, row['stop reason'] ?? '']] : [];
    });
    expect(words.map(([said]) => said)).toEqual(
      expect.arrayContaining(['end_turn', 'max_tokens', 'refusal', 'cancelled', 'max_turn_requests']),
    );
    expect(words).toEqual(words.map(([stopReason]) => [stopReason, promptEnd({ stopReason }).stopReason]));
  });
});

describe('the providers in subagents.md', () => {
  it.each([
    ['in-process', new InProcessSubagentProvider({ createAgent: () => Promise.reject(new Error('never')) })],
    ['acp', new AcpSubagentProvider({ command: 'none', cwd: root })],
  ])('hold children to what is printed: %s', (name, { capabilities }) => {
    const row = table(DOCUMENT, 'Providers').find((one) => one['name'] === name);
    const printed = row?.['holds it to'] ?? '';
    const words = { outputSchema: 'schema', depthLimit: 'depth', toolFilter: 'tools', persona: 'persona' } as const;
    expect(Object.fromEntries(Object.entries(words).map(([key, word]) => [key, isListed(printed, word)]))).toEqual(
      capabilities,
    );
  });
});

/** Before the explanation of why it is nothing. */
function isListed(cell: string, word: string): boolean {
  return (cell.split(':')[0] ?? '').split(', ').includes(word);
}
