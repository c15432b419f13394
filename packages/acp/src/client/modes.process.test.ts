import { MODES } from '../testing/modes/index.mjs';
import { runMode } from '../testing/run-mode.mjs';
import { AcpSubagentProvider } from './index.js';

const TIMEOUT_MS = 30_000;

/** Whatever an agent does: the result is what it should be, it comes in time, and no process is left. */
describe.each(Object.entries(MODES))('a run with an agent, about its %s', (_about, modes) => {
  // Most of their time is waiting.
  it.concurrent.each(modes.map((mode) => [mode.name, mode] as const))(
    '%s',
    async (_name, mode) => {
      const run = await runMode(mode, (options) => new AcpSubagentProvider(options));
      expect(run.unexpected).toEqual([]);
      expect(run.left).toBe(0);
    },
    TIMEOUT_MS,
  );
});
