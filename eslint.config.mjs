import boundaries from 'eslint-plugin-boundaries';
import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';

/** Rooms of the workspace, and for each what it may import besides itself and foreign packages. */
const ROOMS = {
  proto: { pattern: 'proto', imports: [] },
  'service-kit': { pattern: 'packages/service-kit', imports: ['proto'] },
  agent: { pattern: 'packages/agent', imports: ['proto', 'service-kit'] },
  shell: { pattern: 'packages/shell', imports: [] },
  'proxy-protocol': { pattern: 'packages/proxy-protocol', imports: [] },
  harness: { pattern: 'packages/harness', imports: ['shell'] },
  acp: { pattern: 'packages/acp', imports: ['harness', 'shell'] },
  skills: { pattern: 'packages/skills', imports: ['proto', 'service-kit', 'agent', 'harness', 'acp'] },
  cli: { pattern: 'packages/cli', imports: ['proto', 'service-kit', 'agent', 'harness', 'acp', 'proxy-protocol'] },
  testkit: { pattern: 'packages/testkit', imports: ['proto', 'service-kit'] },
};

/** The only foreign modules that deciding code may use: they compute and touch nothing outside. */
const DOMAIN_MODULES = ['semver', 're2js', 'node:crypto', 'node:buffer'];

/** Tests, and what only they import. */
const TESTS = [
  '**/*.test.ts',
  '**/*.test-helper.ts',
  '**/testing/**/*.ts',
  '**/test-support/**/*.ts',
  'tests/**/*.ts',
  'bench/**/*.ts',
];

const sameService = { service: '{{ from.element.captured.service }}' };

/** Later policies win over earlier ones. */
const policies = [
  { allow: { to: { module: { origin: ['external', 'core'] } } } },
  ...Object.entries(ROOMS).map(([type, { imports }]) => ({
    from: { element: { type } },
    allow: { to: { element: { type: [type, ...imports] } } },
  })),
  {
    from: { element: { type: 'service' } },
    allow: {
      to: {
        element: { type: ['proto', 'service-kit', 'agent', 'harness', 'acp', 'skills', 'shell', 'proxy-protocol'] },
      },
    },
  },
  {
    from: { element: { type: 'service' } },
    allow: { to: { element: { type: ['service', 'domain'], captured: sameService } } },
  },
  { from: { element: { type: 'domain' } }, disallow: { to: { module: { origin: ['external', 'core'] } } } },
  { from: { element: { type: 'domain' } }, allow: { to: { element: { type: 'domain', captured: sameService } } } },
  // The plugin gives built-in modules with and without their prefix.
  {
    from: { element: { type: 'domain' } },
    allow: { to: { module: { source: DOMAIN_MODULES.flatMap((name) => [name, name.replace(/^node:/u, '')]) } } },
  },
  { disallow: { to: { file: { categories: 'test' } } } },
  { from: { file: { categories: 'test' } }, allow: { to: { element: { type: '*' } } } },
  { from: { file: { categories: 'test' } }, allow: { to: { module: { origin: ['local', 'external', 'core'] } } } },
];

const defaultExport = {
  selector: 'ExportDefaultDeclaration',
  message: 'Export by name: the name then is the same everywhere and is found by searching for it.',
};

const byPath = {
  regex: '/(?:packages|proto)/',
  message: 'Import a package by its name: its entry is what it promises.',
};

export default defineConfig(
  globalIgnores(['**/dist/', 'proto/gen/', '**/coverage/', '.parley/']),
  {
    linterOptions: { reportUnusedDisableDirectives: 'error' },
  },
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: {
      parserOptions: { project: ['./tsconfig.tests.json'], tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_', ignoreRestSiblings: true },
      ],
      // It asks for `!`, which another rule forbids.
      '@typescript-eslint/non-nullable-type-assertion-style': 'off',
      // A generic parameter named once still says what a caller gets.
      '@typescript-eslint/no-unnecessary-type-parameters': 'off',
      // env['NAME'] is how a name that comes from outside is read.
      '@typescript-eslint/dot-notation': 'off',
      'no-restricted-syntax': ['error', defaultExport],
      eqeqeq: ['error', 'always'],
      'no-console': 'error',
    },
  },
  {
    // An example shows what it did.
    files: ['packages/*/examples/**/*.ts'],
    rules: { 'no-console': 'off' },
  },
  {
    files: ['**/*.{ts,mjs}'],
    plugins: { boundaries },
    settings: {
      'boundaries/root-path': import.meta.dirname,
      'boundaries/elements': [
        ...Object.entries(ROOMS).map(([type, { pattern }]) => ({ type, pattern, partialMatch: false })),
        { type: 'domain', pattern: 'services/*/src/domain', capture: ['service'], partialMatch: false },
        { type: 'service', pattern: 'services/*', capture: ['service'], partialMatch: false },
      ],
      'boundaries/files': [{ category: 'test', pattern: TESTS }],
      'boundaries/dependency-nodes': ['import', 'export', 'dynamic-import'],
      'boundaries/legacy-templates': false,
      'import/resolver': { [`${import.meta.dirname}/scripts/lib/import-resolver.cjs`]: {} },
    },
    rules: {
      'boundaries/dependencies': [
        'error',
        { default: 'disallow', checkAllOrigins: true, checkUnknownLocals: true, checkInternals: true, policies },
      ],
      'no-restricted-imports': ['error', { patterns: [byPath] }],
    },
  },
  {
    // Not part of any room.
    files: ['*.mjs', 'scripts/**', 'deploy/**', 'tests/**', 'bench/**'],
    rules: { 'boundaries/dependencies': 'off', 'no-restricted-imports': 'off' },
  },
  {
    files: TESTS,
    rules: {
      // Tests read JSON that others wrote and pass methods of fakes about; the compiler still checks the rest.
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/unbound-method': 'off',
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/no-empty-function': 'off',
      '@typescript-eslint/no-unsafe-enum-assignment': 'off',
      '@typescript-eslint/no-unsafe-enum-comparison': 'off',
      '@typescript-eslint/no-misused-spread': 'off',
      // Code under test meets what others throw.
      '@typescript-eslint/only-throw-error': 'off',
      '@typescript-eslint/no-confusing-void-expression': 'off',
    },
  },
  {
    files: ['bench/**/*.ts', 'scripts/**'],
    rules: { 'no-console': 'off' },
  },
  {
    files: ['**/*.mjs', '**/*.cjs'],
    extends: [tseslint.configs.recommended],
    rules: { eqeqeq: ['error', 'always'] },
  },
  {
    files: ['scripts/**/*.mjs', 'deploy/**/*.mjs', 'bench/**/*.mjs'],
    rules: { 'no-restricted-syntax': ['error', defaultExport] },
  },
  {
    files: ['**/*.cjs'],
    rules: { '@typescript-eslint/no-require-imports': 'off' },
  },
);
