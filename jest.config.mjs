/** Sources run as they are: the condition `parley-source` resolves workspace packages to their TypeScript. */
export default {
  testEnvironment: 'node',
  testEnvironmentOptions: { customExportConditions: ['parley-source', 'node', 'node-addons'] },
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: { parser: { syntax: 'typescript' }, target: 'es2024' },
        module: { type: 'es6' },
        sourceMaps: 'inline',
      },
    ],
  },
  // For a machine that does other things as well; what a test promises about time it asserts itself.
  testTimeout: 20_000,
  testMatch: ['<rootDir>/**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/', '/dist/'],
  modulePathIgnorePatterns: ['/dist/'],
};
