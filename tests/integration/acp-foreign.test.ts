import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AcpSubagentProvider, fileRecorder, replayChildren, type AcpSubagentOptions } from '@parley/acp';
import type { SubagentRun } from '@parley/harness';
import { eventually, startProcess } from '@parley/testkit';
import { AcpProcesses } from './support/acp-processes.js';
import { startFakeGemini, type FakeGemini, type FakeGeminiOptions } from './support/fake-gemini.js';
import { installForeignAcp, type ForeignAcp } from './support/foreign-acp.js';
import { finish, taskRequest } from './support/subagent-work.js';

const root = join(import.meta.dirname, '..', '..');
const TRANSCRIPTS = join(root, '.parley', 'acp-foreign');
const TEXT = 'written through another team\n';

/** These programs take seconds to start, and many times as long on a machine that has something else to do. */
const PATIENT_MS = 120_000;

let foreign: ForeignAcp;
let folder: string;
let home: string;
let processes: AcpProcesses;
/** What each test leaves; nothing before the first one. */
let cleanUp = (): void => undefined;
let uninstall = (): void => undefined;

beforeAll(async () => {
  mkdirSync(TRANSCRIPTS, { recursive: true });
  foreign = await installForeignAcp();
  uninstall = foreign.remove;
}, 90_000);

afterAll(() => {
  uninstall();
});

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley acp-'));
  home = mkdtempSync(join(tmpdir(), 'parley-acp-home-'));
  processes = new AcpProcesses(randomUUID());
  cleanUp = () => {
    processes.kill();
    for (const path of [folder, home]) rmSync(path, { recursive: true, force: true });
  };
});

afterEach(() => {
  cleanUp();
});

interface WireMessage {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: Readonly<Record<string, unknown>>;
}

/** A command of the client of another team; it prints every message of both sides as a line. */
async function acpx(name: string, { policy = '--approve-all', allow = 'read' }, ...command: readonly string[]) {
  const parley = [process.execPath, join(root, 'packages', 'cli', 'bin', 'parley.js'), 'acp', '--offline'];
  const client = await startProcess({
    command: process.execPath,
    args: [
      foreign.acpx,
      ...[policy, '--no-fs', '--no-terminal', '--format', 'json', '--json-strict', '--timeout', '30', '--ttl', '1'],
      ...['--cwd', folder, '--agent', [...parley, '--allow', allow].map((word) => JSON.stringify(word)).join(' ')],
      ...command,
    ],
    cwd: folder,
    env: { HOME: home, ...processes.env },
  });
  const { code } = await client.exited;
  writeFileSync(join(TRANSCRIPTS, `client-acpx-${name}.jsonl`), client.stdout.map((line) => `${line}\n`).join(''));
  return { code, messages: client.stdout.map((line) => JSON.parse(line) as WireMessage), said: client.output() };
}

/** What stays for a moment when the client has left ends by itself. */
const allGone = () => eventually(() => expect(processes.alive()).toEqual([]), { timeoutMs: 15_000 });

const asked = (messages: readonly WireMessage[]) =>
  messages.filter(({ method }) => method === 'session/request_permission');
const answers = (messages: readonly WireMessage[]) =>
  messages.map(({ result }) => result).filter((one) => one !== undefined);

const WRITE = JSON.stringify({ tool: 'write_file', arguments: { path: 'made.txt', content: TEXT } });

describe('a client of another team (acpx), with parley acp', () => {
  it(
    'approves a call, and the file is there',
    async () => {
      const { code, messages, said } = await acpx('approve', {}, 'exec', WRITE);
      expect(said).toContain('"stopReason":"end_turn"');
      expect(code).toBe(0);
      expect(readFileSync(join(folder, 'made.txt'), 'utf8')).toBe(TEXT);
      expect(asked(messages)).toHaveLength(1);
      expect(answers(messages)[0]).toMatchObject({ protocolVersion: 1 });
      await allGone();
    },
    PATIENT_MS,
  );

  it(
    'denies it, and there is none',
    async () => {
      const { messages } = await acpx('deny', { policy: '--deny-all' }, 'exec', WRITE);
      expect(asked(messages)).toHaveLength(1);
      expect(existsSync(join(folder, 'made.txt'))).toBe(false);
      expect(answers(messages).at(-1)).toMatchObject({ stopReason: 'end_turn' });
      await allGone();
    },
    PATIENT_MS,
  );

  it(
    'is not asked about what is allowed already',
    async () => {
      const { code, messages } = await acpx('allowed', { policy: '--deny-all', allow: 'write' }, 'exec', WRITE);
      expect(code).toBe(0);
      expect(asked(messages)).toEqual([]);
      expect(readFileSync(join(folder, 'made.txt'), 'utf8')).toBe(TEXT);
      await allGone();
    },
    PATIENT_MS,
  );

  it(
    'goes on with a session in another process',
    async () => {
      await acpx('session', {}, 'sessions', 'new');
      const first = await acpx('session-first', {}, 'prompt', 'Hello.');
      expect(answers(first.messages).at(-1)).toEqual({ stopReason: 'end_turn' });
      await allGone();
      const second = await acpx('session-second', {}, 'prompt', WRITE);
      const idOf = ({ messages }: typeof first) =>
        messages.find(({ method }) => method === 'session/prompt')?.params?.['sessionId'];
      expect(second.messages.find(({ method }) => method === 'session/resume')?.params).toMatchObject({
        sessionId: idOf(first),
      });
      expect(idOf(second)).toBe(idOf(first));
      expect(readFileSync(join(folder, 'made.txt'), 'utf8')).toBe(TEXT);
      await allGone();
    },
    PATIENT_MS,
  );
});

/** Gemini CLI with a model service of our own on the loopback address, and a provider whose children it is. */
class GeminiChildren {
  readonly provider: AcpSubagentProvider;
  readonly #recorder;

  private constructor(
    readonly model: FakeGemini,
    readonly recording: string,
    readonly options: AcpSubagentOptions,
  ) {
    this.#recorder = fileRecorder(recording);
    this.provider = new AcpSubagentProvider({ ...options, record: this.#recorder.recorder });
  }

  static async open(
    name: string,
    service: FakeGeminiOptions,
    { env, ...options }: Partial<AcpSubagentOptions> = {},
  ): Promise<GeminiChildren> {
    mkdirSync(join(home, '.gemini'));
    writeFileSync(join(home, '.gemini', 'settings.json'), JSON.stringify(GEMINI_SETTINGS));
    const model = await startFakeGemini(service);
    return new GeminiChildren(model, join(TRANSCRIPTS, `agent-gemini-${name}.jsonl`), {
      command: process.execPath,
      args: [foreign.geminiCli, '--acp', '--model', 'gemini-2.5-flash'],
      cwd: folder,
      env: {
        HOME: home,
        GEMINI_API_KEY: 'none',
        GOOGLE_GEMINI_BASE_URL: model.url,
        GEMINI_CLI_NO_RELAUNCH: 'true',
        ...processes.env,
        ...env,
      },
      ...options,
    });
  }

  start(task: string): Promise<SubagentRun> {
    return this.provider.start(taskRequest(task));
  }

  async close(): Promise<void> {
    await this.provider.close();
    await this.model.stop();
    await this.#recorder.close();
  }
}

/** Nothing of it leaves this machine. */
const GEMINI_SETTINGS = {
  security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: false } },
  privacy: { usageStatisticsEnabled: false },
  general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
};

describe('an agent of another team (Gemini CLI), under our provider', () => {
  let children: GeminiChildren | undefined;

  afterEach(async () => {
    await children?.close();
    children = undefined;
  }, 30_000);

  const writeCall = () => ({ name: 'write_file', args: { file_path: join(folder, 'made.txt'), content: TEXT } });

  it(
    'writes a file with a tool of its own once it was allowed to',
    async () => {
      const titles: string[] = [];
      children = await GeminiChildren.open(
        'allow',
        { call: writeCall() },
        {
          permission: ({ title, options }) => {
            titles.push(`${title}: ${options.map(({ kind }) => kind ?? 'unknown').join(', ')}`);
            return 'allow';
          },
        },
      );
      const { result, updates } = await finish(await children.start('Write made.txt.'));
      expect(titles).toEqual(['Writing to made.txt: allow_always, allow_once, reject_once']);
      expect(result).toMatchObject({
        stopReason: 'completed',
        output: expect.stringContaining('Successfully created'),
      });
      expect(updates).toContainEqual(expect.objectContaining({ kind: 'tool_completed', failed: false }));
      expect(readFileSync(join(folder, 'made.txt'), 'utf8')).toBe(TEXT);
      expect(processes.alive()).toEqual([]);

      // The same once more, from the record alone.
      await children.close();
      rmSync(join(folder, 'made.txt'));
      const record = readFileSync(children.recording, 'utf8');
      const replayed = new AcpSubagentProvider({ ...children.options, command: '/nowhere' }, replayChildren(record));
      const again = await finish(await replayed.start(taskRequest('Write made.txt.')));
      await replayed.close();
      expect(again).toEqual({ result, updates });
      expect(titles).toHaveLength(2);
      expect(existsSync(join(folder, 'made.txt'))).toBe(false);
    },
    PATIENT_MS,
  );

  it(
    'writes none when it is refused, and its model is told',
    async () => {
      children = await GeminiChildren.open('reject', { call: writeCall() });
      const { result } = await finish(await children.start('Write made.txt.'));
      expect(result).toMatchObject({
        stopReason: 'completed',
        output: expect.stringContaining('canceled by the user'),
      });
      expect(existsSync(join(folder, 'made.txt'))).toBe(false);
    },
    PATIENT_MS,
  );

  it(
    'is cancelled while it waits for its model, and nothing is left of it and its launcher',
    async () => {
      // Where there is much memory it starts itself once more, and the first process only waits.
      children = await GeminiChildren.open('cancel', { silent: true }, { env: { GEMINI_CLI_NO_RELAUNCH: '' } });
      const run = await children.start('Say hello.');
      await children.model.asked;
      expect(processes.alive().length).toBeGreaterThan(0);
      run.cancel('not needed any more');
      expect((await run.result).stopReason).toBe('aborted');
      await run.dispose();
      expect(processes.alive()).toEqual([]);
    },
    PATIENT_MS,
  );
});
