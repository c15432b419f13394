import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AGREEMENT_STATES, digestTerms, END_REASONS, hashProof, NEGOTIATION_REASONS, termsSchema } from '@parley/agent';
import { REASONS } from '@parley/service-kit';
import { status as GrpcStatus } from '@grpc/grpc-js';
import ts from 'typescript';
import { blocks, section, table, tables } from './markdown-tables.js';

const PROTOCOL = 'docs/protocol.md';
const root = join(import.meta.dirname, '..', '..');

const sources = ['packages/service-kit/src', 'packages/agent/src', 'packages/skills/src', 'services/registry/src']
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(root, folder, name)),
  )
  .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts') && !name.includes('testing'));

interface Thrown {
  readonly reason: string;
  readonly code: string;
}

/** Every `new AppError('reason', …, { code: 'code' })` whose reason and code are written out. */
function thrownIn(path: string): Thrown[] {
  const found: Thrown[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isNewExpression(node) && node.expression.getText() === 'AppError') {
      const [reason, , options] = node.arguments ?? [];
      const code = options !== undefined && ts.isObjectLiteralExpression(options) ? codeIn(options) : undefined;
      if (reason !== undefined && ts.isStringLiteral(reason) && code !== undefined) {
        found.push({ reason: reason.text, code });
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true));
  return found;
}

function codeIn(options: ts.ObjectLiteralExpression): string | undefined {
  for (const property of options.properties) {
    if (ts.isPropertyAssignment(property) && property.name.getText() === 'code') {
      return ts.isStringLiteral(property.initializer) ? property.initializer.text : undefined;
    }
  }
  return undefined;
}

describe('the errors in protocol.md', () => {
  it('have the statuses of both transports', () => {
    const expected = Object.entries(REASONS).map(([reason, { status, grpc }]) => ({
      reason,
      HTTP: String(status),
      gRPC: GrpcStatus[grpc],
    }));
    expect(table(PROTOCOL, 'By reason')).toEqual(expected);
  });

  const documented = new Map(
    tables(PROTOCOL, 'By code')
      .flat()
      .map(({ code = '', reason = '' }) => [code, reason]),
  );

  it('name every code that is thrown, with its reason', () => {
    const thrown = sources.flatMap(thrownIn);
    expect(thrown.length).toBeGreaterThan(30);
    const wrong = thrown.filter(({ reason, code }) => documented.get(code) !== reason);
    expect(wrong).toEqual([]);
  });

  it('name no code that nothing throws', () => {
    const text = sources.map((path) => readFileSync(path, 'utf8')).join('\n');
    expect([...documented.keys()].filter((code) => !text.includes(`'${code}'`))).toEqual([]);
  });
});

describe('the words in protocol.md', () => {
  const named = (heading: string): string =>
    section(PROTOCOL, heading)
      .filter((line) => !line.startsWith('#'))
      .join('\n');

  it('are all reasons of a negotiation', () => {
    const codes = table(PROTOCOL, 'Reasons').flatMap(({ code = '' }) => code.split(', '));
    expect(codes.sort()).toEqual([...NEGOTIATION_REASONS].sort());
  });

  it('are all reasons for an end', () => {
    const words = [...named('End reasons').matchAll(/`(\w+)`/gu)].map(([, word]) => word);
    expect(words.sort()).toEqual([...END_REASONS].sort());
  });

  it('are all states of an agreement', () => {
    expect(table(PROTOCOL, 'States').map(({ state }) => state)).toEqual([...AGREEMENT_STATES]);
  });
});

describe('the examples in protocol.md', () => {
  it('give the digest that is printed', () => {
    const [terms = '', , digest] = blocks(PROTOCOL, 'Digests');
    expect(digestTerms(termsSchema.parse(JSON.parse(terms)))).toBe(digest);
  });

  it('are hashed as the line that is printed', () => {
    const [terms = '', line = ''] = blocks(PROTOCOL, 'Digests');
    // The members of the line are in order; what is empty is left out.
    const { capabilities, ...rest } = JSON.parse(terms) as { capabilities: { parameters: object }[] };
    const normal = capabilities.map(({ parameters, ...one }) =>
      Object.keys(parameters).length === 0 ? one : { ...one, parameters },
    );
    expect(JSON.parse(line)).toEqual({ ...rest, capabilities: normal });
    expect(line).toBe(JSON.stringify(sorted(JSON.parse(line))));
  });

  it('give the hash of a proof that is printed', () => {
    const [hash] = blocks(PROTOCOL, 'Proofs');
    expect(hashProof('correct horse battery staple')).toBe(hash);
  });
});

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, member]): [string, unknown] => [name, sorted(member)]));
}
