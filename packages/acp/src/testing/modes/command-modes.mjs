// Commands that are no agent, and folders that are none.

/** @type {readonly import('./mock-mode.mjs').MockMode[]} */
export const COMMAND_MODES = [
  { name: 'no such command', command: 'no-such-agent-4711', expect: { start: 'no-such-agent-4711' } },
  { name: 'no such path', command: '/nowhere/agent', expect: { start: '/nowhere/agent' } },
  {
    name: 'command that may not be executed',
    make: { file: 'agent', mode: 0o644 },
    command: '{made}',
    expect: { start: 'agent' },
  },
  { name: 'folder as the command', make: { folder: 'agent' }, command: '{made}', expect: { start: 'agent' } },
  {
    name: 'shell line as the command',
    command: 'node --version',
    expect: { start: 'node .*arguments are given apart' },
  },
  { name: 'shell line with quotes and pipes', command: "echo 'a' | cat > x; true", expect: { start: 'echo' } },
  { name: 'empty command', command: '', expect: { start: '\\S' } },
  { name: 'cat', command: 'cat', expect: { start: '\\S' } },
  {
    name: 'sleep',
    command: 'sleep',
    args: ['600'],
    options: { deadlines: { initializeMs: 800 } },
    expect: { start: 'initialize|the start of its program' },
  },
  {
    name: 'program that prints its help',
    command: 'sh',
    args: ['-c', 'echo "usage: agent [options]"; exit 2'],
    expect: { start: '2' },
  },
  { name: 'program that prints nothing', command: 'true', expect: { start: '0' } },
  {
    name: 'program that prints for ever',
    command: 'yes',
    options: { maxGarbageLines: 50 },
    expect: { start: '\\S' },
  },
  { name: 'cwd that does not exist', options: { cwd: '/nowhere/at/all' }, expect: { start: '/nowhere/at/all' } },
  { name: 'relative cwd', options: { cwd: 'src' }, expect: { start: 'absolute' } },
  {
    name: 'cwd that is a file',
    make: { file: 'README', mode: 0o644 },
    options: { cwd: '{made}' },
    expect: { start: 'README' },
  },
  { name: 'cwd that cannot be entered', make: { loop: 'loop' }, options: { cwd: '{made}' }, expect: { start: 'loop' } },
  { name: 'empty cwd', options: { cwd: '' }, expect: { start: 'absolute' } },
];
