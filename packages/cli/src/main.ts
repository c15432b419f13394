import { readFileSync } from 'node:fs';
import process from 'node:process';
import type { CliIo } from './cli-io.js';
import { runCli } from './run-cli.js';

const io: CliIo = {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  cwd: process.cwd(),
  now: Date.now,
  process,
  // The whole group, as the terminal would: a launcher such as npx has to stop too, or the shell would not come back.
  stopGroup: () => process.kill(0, 'SIGTSTP'),
};

const code = await runCli(process.argv.slice(2), io, versionOf(new URL('../package.json', import.meta.url)));
// What a stuck tool or a half-open connection keeps alive is not waited for.
process.exit(code);

function versionOf(manifest: URL): string {
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { readonly version: string };
  return version;
}
