import { readFileSync } from 'node:fs';
import { Pool } from 'undici';

/**
 * Sends requests from `make` as fast as `connections` connections carry them, for a bounded time.
 * Rates of one client on a shared machine are noisy; processor time of the server per request is not.
 */
export async function load({ url, pid, make, seconds = 3, connections = 16 }) {
  const pool = new Pool(url, { connections, pipelining: 1 });
  const until = performance.now() + seconds * 1_000;
  const latencies = [];
  const failures = new Map();
  let index = 0;
  const before = { cpu: cpuSeconds(pid), at: performance.now() };
  const worker = async () => {
    while (performance.now() < until) {
      const { method = 'GET', path, headers, body } = make(index++);
      const started = performance.now();
      const answer = await pool.request({ method, path, headers, body });
      await answer.body.dump({ limit: 1 << 24 });
      latencies.push(performance.now() - started);
      if (answer.statusCode >= 300) failures.set(answer.statusCode, (failures.get(answer.statusCode) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: connections }, worker));
  const spent = { cpu: cpuSeconds(pid) - before.cpu, seconds: (performance.now() - before.at) / 1_000 };
  await pool.close();
  if (failures.size > 0) throw new Error(`${url}: not every answer was a good one: ${JSON.stringify([...failures])}`);
  latencies.sort((a, b) => a - b);
  return {
    rps: Math.round(latencies.length / spent.seconds),
    cpu_us: round((spent.cpu * 1e6) / latencies.length, 1),
    p50_ms: round(latencies[Math.floor(latencies.length * 0.5)], 2),
    p99_ms: round(latencies[Math.floor(latencies.length * 0.99)], 2),
  };
}

/** User and system time of a process so far, in seconds; 100 ticks a second on every Linux we know. */
export function cpuSeconds(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

export function round(value, digits) {
  return Number(value.toFixed(digits));
}

/** Runs measurements in turn, several times, and gives the median of each: noise then hits all alike. */
export async function alternate(measurements, repeat) {
  const results = new Map(measurements.map(([name]) => [name, []]));
  for (let run = 0; run < repeat; run += 1) {
    for (const [name, measure] of measurements) results.get(name).push(await measure());
  }
  return Object.fromEntries([...results].map(([name, runs]) => [name, medianOf(runs)]));
}

function medianOf(runs) {
  const keys = Object.keys(runs[0]);
  return Object.fromEntries(
    keys.map((key) => {
      const sorted = runs.map((run) => run[key]).sort((a, b) => a - b);
      return [key, sorted[Math.floor(sorted.length / 2)]];
    }),
  );
}
