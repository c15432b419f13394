import { registrationsUnderChange, type RedisChangeOptions, type RedisChangeReport } from '@parley/testkit';
import type { Service } from './services.js';

export interface ChangeOptions extends Omit<RedisChangeOptions, 'registryUrls'> {
  readonly title: string;
  readonly registries: readonly Service[];
}

/** Prints the numbers that operations.md speaks of, for whoever reads the output. */
export async function underLoad({ title, registries, ...options }: ChangeOptions): Promise<RedisChangeReport> {
  const report = await registrationsUnderChange({ ...options, registryUrls: registries.map(({ url }) => url) });
  const { lost, longestOutageMs, counts, watches } = report;
  const resyncs = watches.map((watch) => String(watch.resyncs)).join(' and ');
  process.stdout.write(
    `${title}: lost registrations ${String(lost.length)}, longest write outage ${longestOutageMs.toFixed(0)} ms, ` +
      `failed writes ${String(counts.failures)}, registrations again ${String(counts.unknownLeases)}, ` +
      `resyncs of watchers ${resyncs} (${String(counts.registrations)} registrations, ${String(counts.renewals)} renewals)\n`,
  );
  return report;
}
