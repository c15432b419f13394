/** Lets a plain Node run the sources as they are. */
const HOOKS = `import { registerHooks } from 'node:module';
  registerHooks({
    resolve: (name, context, next) =>
      next(name.startsWith('.') && context.parentURL?.endsWith('.ts') ? name.replace(/\\.js$/, '.ts') : name, context),
  });`;

/** Options of Node, before the program. */
export const PLAIN_NODE: readonly string[] = [
  '--experimental-transform-types',
  '--no-warnings',
  `--import=data:text/javascript,${encodeURIComponent(HOOKS)}`,
];
