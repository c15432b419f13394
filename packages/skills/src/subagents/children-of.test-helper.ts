import { readdir, readFile } from 'node:fs/promises';

/** Ids of the processes that are children of this agent's. */
export async function childrenOf(agentId: string): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/u.test(name)).map(Number);
  const found = await Promise.all(
    pids.map(async (pid) => {
      const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
      return environment.split('\0').includes(`AGENT_ID=${agentId}.review`) ? [pid] : [];
    }),
  );
  return found.flat();
}
