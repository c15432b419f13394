export type { InheritEnv } from './child-environment.js';
export { type ChildProgram, startChild } from './start-child.js';
