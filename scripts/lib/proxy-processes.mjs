import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** What a proxy holds right now; its commands work in `folder`. */
export function look({ pid }, folder) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const descriptors = readdirSync(`/proc/${pid}/fd`);
  return {
    rssMib: Number(/^VmRSS:\s+(\d+) kB$/mu.exec(status)[1]) / 1_024,
    descriptors: descriptors.length,
    sockets: descriptors.filter((name) => linkOf(`/proc/${pid}/fd/${name}`).startsWith('socket:')).length,
    processes: commandsIn(folder, pid).length,
  };
}

/** What a process was started as. */
export function described(pid) {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    return `${pid}`;
  }
}

function linkOf(path) {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

/** Processes of commands, wherever they have gone: nothing else works in the folder but the proxy itself. */
export function commandsIn(folder, proxyPid) {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/u.test(name) && Number(name) !== proxyPid && linkOf(`/proc/${name}/cwd`) === folder)
    .map(Number);
}
