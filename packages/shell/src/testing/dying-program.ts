// Starts commands by the fork server, says its pid, and waits to be killed. Its arguments are the commands.
import { defaultLauncher } from '../default-launcher.js';
import { findShell, startCommand } from '../index.js';

const { path, name } = findShell(process.env['PATH']);
const env = { PATH: process.env['PATH'] ?? '' };
for (const text of process.argv.slice(2)) startCommand({ shell: path, shellName: name, text, cwd: process.cwd(), env });
await startCommand({ shell: path, shellName: name, text: 'true', cwd: '/', env }).result;
process.stdout.write(`${String(defaultLauncher.serverPid)}\n`);
setInterval(() => undefined, 1_000);
