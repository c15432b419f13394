// Starts a program and exits without ending it. Its argument is a text for a shell.
import { startProgram } from '../start-program.js';

const env = { PATH: process.env['PATH'] ?? '' };
const program = await startProgram({
  command: '/bin/sh',
  args: ['-c', String(process.argv[2])],
  cwd: process.cwd(),
  env,
});
program.stdout.once('data', () => process.exit(0));
