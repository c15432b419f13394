import { readMcpServers } from './mcp-servers.js';

describe('readMcpServers', () => {
  it('takes servers of both kinds, started in the folder of the session', () => {
    const list = [
      { name: 'files', command: 'server', args: ['-a'], env: [{ name: 'KEY', value: 'v' }] },
      { type: 'http', name: 'web', url: 'https://a.example/mcp', headers: [{ name: 'X', value: 'y' }] },
    ];
    expect(readMcpServers(list, '/work')).toEqual({
      files: { command: 'server', args: ['-a'], env: { KEY: 'v' }, cwd: '/work' },
      web: { type: 'http', url: 'https://a.example/mcp', headers: { X: 'y' } },
    });
  });
});
