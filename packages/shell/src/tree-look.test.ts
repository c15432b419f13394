import { setTimeout as delay } from 'node:timers/promises';
import { CommandProcess } from './command-process.js';
import { familyEnder } from './family-ender.js';
import { LAUNCHERS } from './testing/command-folder.js';
import { describeOnLinux } from './testing/describe-on-linux.js';
import { TreeLook } from './tree-look.js';

describeOnLinux('a look at the tree', () => {
  it.each(LAUNCHERS)(
    'finds those of commands by %s that were told in another order than they were born',
    async (_, launcher) => {
      let count = 0;
      const start = (): Promise<CommandProcess> => {
        count += 1;
        const id = `tree-look-${String(process.pid)}-${String(count)}`;
        const ignore = (): void => undefined;
        const env = { PATH: process.env['PATH'] ?? '' };
        const shell = { shell: '/bin/sh', shellName: 'sh', text: 'exec sleep 600', cwd: '/', env };
        return CommandProcess.start({ ...shell, id, onStdout: ignore, onStderr: ignore, launcher });
      };
      const older = await start();
      // Births are told apart by the tick of the system's clock, which is 10 ms.
      await delay(50);
      const younger = await start();
      const both = [younger.family, older.family];
      const look = new TreeLook({
        families: new Set(both),
        byLeader: new Map(both.map((family) => [family.leader, family])),
        byId: new Map(both.map((family) => [family.id, family])),
      });
      expect(younger.family.bornAt).toBeGreaterThan(older.family.bornAt ?? Infinity);
      const found = both.map((family) =>
        look
          .members()
          .get(family)
          ?.map(({ pid }) => pid),
      );
      for (const command of [older, younger]) {
        await familyEnder.end(command.family, 0);
        command.close();
      }
      expect(found).toEqual(both.map(({ leader }) => [leader]));
    },
  );
});
