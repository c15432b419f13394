import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');
const RULES = ['boundaries/dependencies', 'no-restricted-syntax', 'no-restricted-imports'];

type Case = readonly [name: string, filePath: string, code: string];

const FORBIDDEN: readonly Case[] = [
  ['a package further down imports one further up', 'packages/service-kit/src/x.ts', `import '@parley/agent';`],
  ['the contracts import a package', 'proto/src/x.ts', `import '@parley/service-kit';`],
  ['an agent knows its skills', 'packages/agent/src/x.ts', `import type { Skill } from '@parley/skills';`],
  ['a package imports a service', 'packages/skills/src/x.ts', `import '@parley/registry';`],
  [
    'a package imports a service by path',
    'packages/skills/src/x.ts',
    `import '../../../services/registry/src/app.js';`,
  ],
  ['a service imports another', 'services/agent-a/src/x.ts', `import '../../agent-b/src/app.js';`],
  ['a service imports another by name', 'services/agent-a/src/x.ts', `import '@parley/registry';`],
  ['a service re-exports another', 'services/agent-a/src/x.ts', `export { x } from '../../registry/src/app.js';`],
  ['a service imports another later', 'services/agent-a/src/x.ts', `await import('../../registry/src/app.js');`],
  ['the domain imports its store', 'services/registry/src/domain/x.ts', `import '../store/store.js';`],
  ['the domain imports a package', 'services/registry/src/domain/x.ts', `import '@parley/service-kit';`],
  ['the domain imports a foreign module', 'services/registry/src/domain/x.ts', `import express from 'express';`],
  ['the domain reads files', 'services/registry/src/domain/x.ts', `import 'node:fs';`],
  [
    'the domain imports one of another service',
    'services/agent-a/src/domain/x.ts',
    `import '../../../registry/src/domain/lease.js';`,
  ],
  ['code that is no test uses the test kit', 'services/registry/src/x.ts', `import '@parley/testkit';`],
  ['a package uses the test kit', 'packages/agent/src/x.ts', `import '@parley/testkit';`],
  ['code that is no test uses what tests share', 'services/registry/src/x.ts', `import './testing/wires.js';`],
];

const ALLOWED: readonly Case[] = [
  ['services use packages', 'services/registry/src/x.ts', `import '@parley/service-kit';\nimport '@parley/proto';`],
  ['agents use skills', 'services/agent-b/src/x.ts', `import '@parley/skills';\nimport '@parley/agent';`],
  ['a service uses its domain', 'services/registry/src/x.ts', `import './domain/lease.js';`],
  ['the domain uses itself', 'services/registry/src/domain/x.ts', `import './lease.js';`],
  [
    'the domain uses what only computes',
    'services/registry/src/domain/x.ts',
    `import 'semver';\nimport 're2js';\nimport 'node:crypto';\nimport 'node:buffer';`,
  ],
  [
    'a package uses those below it',
    'packages/skills/src/x.ts',
    `import '@parley/agent';\nimport '@parley/service-kit';`,
  ],
  ['a test uses the test kit', 'services/registry/src/x.test.ts', `import '@parley/testkit';`],
  [
    'a test of the domain uses what it needs',
    'services/registry/src/domain/x.test.ts',
    `import '@jest/globals';\nimport 'fast-check';\nimport './lease.js';\nimport 'node:fs';`,
  ],
  ['a scenario uses everything', 'tests/integration/x.test.ts', `import '@parley/testkit';\nimport '@parley/agent';`],
  ['what tests share uses the test kit', 'services/registry/src/testing/x.ts', `import '@parley/testkit';`],
  ['a test uses what tests share', 'services/registry/src/x.test.ts', `import './testing/wires.js';`],
];

const BY_PATH: Case = [
  'a package is entered by path',
  'services/registry/src/x.ts',
  `import '../../../packages/service-kit/src/errors/app-error.js';`,
];

const DEFAULT_EXPORT: Case = ['there is a default export', 'packages/agent/src/x.ts', 'export default 1;'];

describe('the import rules of eslint', () => {
  const complaints = new Map<Case, readonly string[]>();

  beforeAll(() => {
    const cases = [...FORBIDDEN, ...ALLOWED, BY_PATH, DEFAULT_EXPORT];
    const probe = spawnSync(process.execPath, [join(import.meta.dirname, 'lint-probe.mjs')], {
      cwd: root,
      encoding: 'utf8',
      input: JSON.stringify(cases.map(([, filePath, code]) => ({ filePath: join(root, filePath), code: `${code}\n` }))),
      timeout: 60_000,
    });
    if (probe.status !== 0) throw new Error(probe.stderr);
    const answers = JSON.parse(probe.stdout) as string[][];
    for (const [index, one] of cases.entries()) complaints.set(one, answers[index] ?? ['no answer']);
  }, 60_000);

  it.each(FORBIDDEN)('complain when %s', (...one) => {
    expect(found(one)).toEqual(['boundaries/dependencies']);
  });

  it.each(ALLOWED)('are content when %s', (...one) => {
    expect(found(one)).toEqual([]);
  });

  it('complain when a package is entered by path instead of by name', () => {
    expect(found(BY_PATH)).toEqual(['no-restricted-imports']);
  });

  it('complain about a default export', () => {
    expect(found(DEFAULT_EXPORT)).toEqual(['no-restricted-syntax']);
  });

  function found([name]: Case): readonly string[] {
    const [, rules] = [...complaints].find(([one]) => one[0] === name) ?? [undefined, ['not asked']];
    // Unused names and the like are of no interest here; a text that cannot be read is.
    return rules.filter((rule) => RULES.includes(rule) || !/^[@a-z]/u.test(rule));
  }
});
