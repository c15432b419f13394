#!/usr/bin/env node
/**
 * Builds the images of our services, and gives them and those of others that the chart names to a cluster for tests.
 *   CLUSTER_LOAD  a command that takes an archive of images (`docker save`) on its standard input,
 *                 such as `kind load image-archive /dev/stdin` or `ctr --namespace k8s.io images import -`
 * Exit 0 when the cluster has them.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { read, root, run } from './lib/workspace.mjs';

const SERVICES = ['registry', 'agent-a', 'agent-b', 'proxy'];

const take = process.env.CLUSTER_LOAD ?? '';
if (take === '') {
  console.error('CLUSTER_LOAD is not set: by which command does the cluster take an archive of images?');
  process.exit(2);
}

/** As the values of the chart name them, with its own version where they name none. */
function imagesOfTheChart() {
  const [chart, values] = ['Chart.yaml', 'values.yaml'].map((file) =>
    parse(readFileSync(join(root, 'helm', file), 'utf8')),
  );
  const images = Object.values(values).flatMap(({ image }) => image ?? []);
  return images.map(({ repository, tag }) => `${repository}:${tag || chart.appVersion}`);
}

/** @returns {Promise<boolean>} whether both ends came to a good end */
async function pipe(images) {
  const save = spawn('docker', ['save', ...images], { stdio: ['ignore', 'pipe', 'inherit'] });
  const load = spawn('bash', ['-c', take], { cwd: root, stdio: [save.stdout, 'ignore', 'inherit'] });
  // The other end has it; a reader that goes away early must end the writer.
  save.stdout.destroy();
  const ends = [save, load].map(
    (child) =>
      new Promise((resolve) => {
        child.once('error', () => resolve(null));
        child.once('exit', resolve);
      }),
  );
  return (await Promise.all(ends)).every((code) => code === 0);
}

if ((await run('docker', ['compose', 'build', '--quiet', ...SERVICES], { timeoutMs: 900_000 })) !== 0) process.exit(1);
const images = imagesOfTheChart();
const missing = images.filter((image) => {
  try {
    read('docker', ['image', 'inspect', image]);
    return false;
  } catch {
    return true;
  }
});
for (const image of missing) {
  if ((await run('docker', ['pull', '--quiet', image])) !== 0) process.exit(1);
}
const taken = await pipe(images);
console.log(taken ? `the cluster has ${images.join(', ')}` : `the cluster did not take the images: ${take}`);
process.exitCode = taken ? 0 : 1;
