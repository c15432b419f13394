import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadMcpConfig, parseMcpConfig } from './mcp-config.js';

describe('a configuration of MCP servers', () => {
  it('holds servers on standard streams and over HTTP, and fields of other programs', () => {
    const config = {
      mcpServers: {
        a: { command: 'node', args: ['x'], env: { K: 'v' }, timeoutMs: 5, autoApprove: ['all'] },
        b: { type: 'http', url: 'https://example.org/mcp', headers: { A: 'b' }, effects: { t: 'read_only' } },
      },
      inputs: [],
    };
    expect(parseMcpConfig(config)).toEqual({ mcpServers: config.mcpServers });
  });

  it.each([
    [{}, 'mcpServers: '],
    [{ mcpServers: [] }, 'mcpServers: '],
    [{ mcpServers: { a: {} } }, 'mcpServers.a: needs either "command" or "url"'],
    [{ mcpServers: { a: { command: 'x', url: 'http://y' } } }, 'mcpServers.a: needs either'],
    [{ mcpServers: { a: null } }, 'mcpServers.a: must be an object'],
    [{ mcpServers: { a: { command: 5 } } }, 'mcpServers.a.command: '],
    [{ mcpServers: { a: { command: 'x', args: ['y', 7] } } }, 'mcpServers.a.args.1: '],
    [{ mcpServers: { a: { command: 'x', env: { K: 1 } } } }, 'mcpServers.a.env.K: '],
    [{ mcpServers: { a: { command: 'x', timeoutMs: 0 } } }, 'mcpServers.a.timeoutMs: '],
    [{ mcpServers: { a: { command: 'x', effects: { t: 'harmless' } } } }, 'mcpServers.a.effects.t: '],
    [{ mcpServers: { a: { url: 'ftp://x' } } }, 'mcpServers.a.url: '],
    [{ mcpServers: { a: { url: 'http://x', type: 'sse' } } }, 'mcpServers.a.type: '],
  ])('names the field that is wrong: %j', (config, text) => {
    expect(() => parseMcpConfig(config)).toThrow(text);
  });

  it('names every field that is wrong, and no value', () => {
    const config = { mcpServers: { a: { command: 'x', args: 'hunter2' }, b: { url: 'hunter2' } } };
    const parse = (): unknown => parseMcpConfig(config);
    expect(parse).toThrow(/mcpServers\.a\.args: .*mcpServers\.b\.url: /u);
    expect(parse).not.toThrow(/hunter2/u);
  });

  describe('in a file', () => {
    let folder: string;

    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), 'mcp-config-'));
    });

    afterEach(() => rm(folder, { recursive: true }));

    it('starts relative folders at the file', async () => {
      const file = join(folder, 'mcp.json');
      await writeFile(file, JSON.stringify({ mcpServers: { a: { command: 'x', cwd: 'sub' } } }));
      expect(await loadMcpConfig(file)).toEqual({ mcpServers: { a: { command: 'x', cwd: join(folder, 'sub') } } });
    });

    it('says which file cannot be read or is no JSON, without quoting it', async () => {
      await expect(loadMcpConfig(join(folder, 'none.json'))).rejects.toThrow('none.json cannot be read');
      await writeFile(join(folder, 'bad.json'), '{"token": hunter2}');
      await expect(loadMcpConfig(join(folder, 'bad.json'))).rejects.toThrow(/bad\.json is no JSON$/u);
    });
  });
});
