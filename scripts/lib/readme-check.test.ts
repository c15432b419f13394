import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkReadme, compareJson, compareText, parsePrintedJson, readExamples } from './readme-check.mjs';

const compare = (printed: string, actual: unknown) => compareJson(parsePrintedJson(printed), actual);

describe('what is printed as JSON', () => {
  it.each([
    ['{"a":1,"b":[true,null]}', { a: 1, b: [true, null] }],
    ['{"a":…}', { a: { any: 'thing' } }],
    ['{"id":"agr-…"}', { id: 'agr-1' }],
    ['{"text":"…: …."}', { text: 'limit: at least 1.' }],
    ['{"a":1, …}', { a: 1, b: 2 }],
    ['{ … }', {}],
    ['[1, …]', [1, 2, 3]],
    ['[…, 3]', [1, 2, 3]],
    ['…', 'whatever'],
    ['{"said":"no … outside","quote":"\\"…\\""}', { said: 'no more outside', quote: '"x"' }],
  ])('%s holds', (printed, actual) => {
    expect(compare(printed, actual)).toEqual([]);
  });

  it.each([
    ['{"a":1}', { a: 2 }, '$.a is 2, printed is 1'],
    ['{"a":1}', { a: '1' }, '$.a is "1", printed is 1'],
    ['{"a":1}', { a: 1, b: 2 }, '$.b is answered and not printed'],
    ['{"a":{"b":1,…}}', { a: { c: 1 } }, '$.a.b is printed and not answered'],
    ['{"id":"agr-…"}', { id: 'off-1' }, '$.id is "off-1", printed is "agr-…"'],
    ['{"id":"…"}', { id: 1 }, '$.id is 1, printed is "…"'],
    ['[1]', [1, 2], '$ has 2 entries, printed are 1'],
    ['[1, …, 3]', [1], '$ has 1 entries, printed are 2'],
    ['[…, 3]', [1, 2], '$[1] is 2, printed is 3'],
    ['{"a":[]}', { a: {} }, '$.a is {}, printed is []'],
    ['{"a":{}}', { a: [] }, '$.a is [], printed is {}'],
    ['{"a":null}', { a: {} }, '$.a is {}, printed is null'],
  ])('%s does not hold for %j', (printed, actual, fault) => {
    expect(compare(printed, actual)).toEqual([fault]);
  });
});

describe('what is printed as text', () => {
  it.each([
    ['one\ntwo', 'one\ntwo\n'],
    ['id: …\ndata: {"a":…}', 'id: 7\ndata: {"a":[1]}'],
    ['first\n…\nlast', 'first\nlast'],
    ['first\n…\nlast', 'first\nand\nmore\nlast'],
    ['first\n…', 'first\nand more'],
    ['a.b{c}', 'a.b{c}'],
  ])('%j holds for %j', (printed, output) => {
    expect(compareText(printed, output)).toEqual([]);
  });

  it.each([
    ['a.b', 'axb'],
    ['one', 'one\ntwo'],
    ['id: …', 'id: 7\nid: 8'],
    ['first\n…\nlast', 'first\nmiddle'],
  ])('%j does not hold for %j', (printed, output) => {
    expect(compareText(printed, output)).toHaveLength(1);
  });
});

describe('examples', () => {
  it('are the blocks with curl, each with the status and output printed below it', () => {
    const markdown = [
      '```sh\nmake demo\n```\nprints 200 lines:\n```text\nno example\n```',
      '## One\n```sh\ncurl a\n```\nAnswers 201. Not 404.\n```json\n{}\n```\n```json\n{"second":1}\n```',
      '```sh\ncurl b\n```\n## Two\nAnswers 500:\n```text\nnot of b\n```',
      '```sh\ncurl c\n```\n```text\nc\n```',
    ].join('\n');
    expect(readExamples(markdown)).toEqual([
      { line: 9, script: 'curl a', status: 201, printed: { kind: 'json', text: '{}' } },
      { line: 19, script: 'curl b', status: undefined, printed: undefined },
      { line: 27, script: 'curl c', status: undefined, printed: { kind: 'text', text: 'c' } },
    ]);
  });
});

describe('a README', () => {
  let folder: string;
  let server: Server;
  let url: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'parley-readme-'));
    server = createServer((request, response) => {
      response.statusCode = request.url === '/missing' ? 404 : 200;
      response.end(JSON.stringify({ method: request.method, path: request.url, token: request.headers['x-token'] }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  });

  afterAll(async () => {
    await new Promise((resolve) => server.close(resolve));
    await rm(folder, { recursive: true });
  });

  async function check(...parts: readonly string[]): Promise<{ checked: number; leftOut: number }> {
    const path = join(folder, 'README.md');
    await writeFile(path, parts.join('\n'));
    return checkReadme({ registry: url, agentA: url, agentB: url, proxy: url }, { path });
  }

  it('holds when every answer is what is printed; variables live on, and Jaeger is asked only where there is one', async () => {
    const result = await check(
      '```sh\nTOKEN=$(curl -s http://127.0.0.1:8000/x | sed \'s/.*"path":"\\/\\(.*\\)".*/\\1/\')\n```',
      '```sh\ncurl -s -X POST http://127.0.0.1:8002/y -H "x-token: $TOKEN"\n```\nAnswers 200:',
      '```json\n{"method":"POST","path":"/y","token":"x"}\n```',
      '```sh\ncurl -s -X PUT http://127.0.0.1:8001/missing\n```\nAnswers 404:\n```text\n{…}\n```',
      '```sh\ncurl -s http://127.0.0.1:16686/api/traces\n```',
    );
    expect(result).toEqual({ checked: 3, leftOut: 1 });
  });

  it('does not hold when a status or an answer is another one; every fault is named with its line', async () => {
    const result = check(
      '```sh\ncurl -s -X POST http://127.0.0.1:8000/missing\n```',
      '```sh\ncurl -s -X POST http://127.0.0.1:8000/z\n```\nAnswers 201:\n```json\n{"method":"GET", …}\n```',
      '```sh\ncurl -s -X POST http://127.0.0.1:8000/z | head -c 5\n```\n```json\n{}\n```',
    );
    await expect(result).rejects.toThrow(
      [
        'README.md does not hold:',
        'line 1: status 404',
        'line 4: status 200, printed is 201',
        'line 4: $.method is "POST", printed is "GET"',
        'line 11: the output is no JSON: {"met',
      ].join('\n'),
    );
  });

  it('has examples', async () => {
    await expect(check('# nothing to run')).rejects.toThrow('has no curl examples');
  });
});
