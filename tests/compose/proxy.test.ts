import { join } from 'node:path';
import { composeStack, eventually, type ComposeStack } from '@parley/testkit';

const directory = join(import.meta.dirname, '..', '..');
/** Building and starting containers takes a while on a busy machine. */
const PATIENCE_MS = 420_000;
const TOKEN = 'a token of some driver that is not in the box';

interface Span {
  readonly traceID: string;
  readonly spanID: string;
  readonly operationName: string;
  readonly references: readonly { spanID: string }[];
  readonly tags: readonly { key: string; value: unknown }[];
  readonly warnings: readonly string[] | null;
}

describe('the proxy in containers', () => {
  let stack: ComposeStack;
  let proxy: string;

  beforeAll(async () => {
    stack = await composeStack({
      directory,
      services: ['proxy', 'jaeger', 'otel-collector'],
      env: { LOG_FORMAT: 'text', OTEL_BSP_SCHEDULE_DELAY: '500' },
      startupTimeoutMs: 180_000,
    });
    proxy = stack.url('proxy', 8003);
  }, PATIENCE_MS);

  afterAll(async () => {
    await stack.down();
  }, PATIENCE_MS);

  async function ask(path: string, body: object): Promise<{ status: number; text: string }> {
    const response = await fetch(proxy + path, {
      method: 'POST',
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(30_000),
    });
    return { status: response.status, text: await response.text() };
  }

  async function spansOf(traceId: string): Promise<readonly Span[]> {
    const response = await fetch(`${stack.url('jaeger', 16686)}/api/traces/${traceId}`);
    expect(response.status).toBe(200);
    return ((await response.json()) as { data: { spans: Span[] }[] }).data[0]?.spans ?? [];
  }

  it('is played by the driver in the box, and the turn is a tree in Jaeger', async () => {
    const output = await stack.compose('--profile', 'driver', 'run', '--rm', '--build', '-T', 'driver');
    expect(output).toContain('10 events: nothing was changed, left out or added');
    const traceId = /\/trace\/([0-9a-f]{32})$/mu.exec(output)?.[1] ?? '';
    await eventually(
      async () => {
        const spans = await spansOf(traceId);
        const [root] = spans.filter(({ operationName }) => operationName === 'turn opened');
        expect(spans.map(({ operationName }) => operationName).sort()).toEqual(
          [
            'turn opened',
            'invoke_agent agentenv-proxy',
            ...Array.from({ length: 5 }, () => 'chat offline'),
            'execute_tool bash',
            'execute_tool add',
            'execute_tool fail',
            'execute_tool bash',
          ].sort(),
        );
        for (const { spanID, references, warnings } of spans) {
          expect(warnings ?? []).toEqual([]);
          if (spanID !== root?.spanID) expect(references.map(({ spanID: parent }) => parent)).toEqual([root?.spanID]);
        }
        const tagOf = (name: string, key: string) =>
          spans
            .filter(({ operationName }) => operationName === name)
            .map(({ tags }) => tags.find((tag) => tag.key === key)?.value);
        expect(tagOf('execute_tool bash', 'parley.proxy.exit_code')).toEqual(expect.arrayContaining([0, 3]));
        expect(tagOf('execute_tool fail', 'error.type')).toEqual(['tool_error']);
        expect(tagOf('execute_tool add', 'gen_ai.tool.call.result')).toEqual(['42']);
        expect(tagOf('execute_tool add', 'mcp.method.name')).toEqual(['tools/call']);
      },
      { timeoutMs: 30_000, intervalMs: 500, what: 'the turn in Jaeger' },
    );
  }, 240_000);

  it('shows a turn in Jaeger while it is open', async () => {
    const message = { kind: 'message', role: 'user', messageId: 'open', parts: [{ kind: 'text', text: 'wait' }] };
    const { text } = await ask('/a2a', {
      jsonrpc: '2.0',
      id: 1,
      method: 'message/send',
      params: { message, configuration: { blocking: false } },
    });
    const { id } = (JSON.parse(text) as { result: { id: string } }).result;
    await eventually(
      async () => {
        const tags = encodeURIComponent(JSON.stringify({ 'parley.proxy.task.id': id }));
        const url = `${stack.url('jaeger', 16686)}/api/traces?service=proxy&lookback=1h&tags=${tags}`;
        const { data } = (await (await fetch(url)).json()) as { data: { spans: Span[] }[] };
        expect(data.flatMap(({ spans }) => spans.map(({ operationName }) => operationName))).toEqual(['turn opened']);
      },
      { timeoutMs: 30_000, intervalMs: 500, what: 'the open turn in Jaeger' },
    );
  }, 60_000);

  it('stays claimed, with its open turn, when it is killed and comes back', async () => {
    expect(await ask('/ext/proxy/claim', { token: TOKEN })).toEqual({
      status: 409,
      text: 'this proxy is already claimed',
    });
    await stack.kill('proxy');
    await stack.compose('start', 'proxy');
    await eventually(
      async () => {
        expect(await ask('/ext/proxy/claim', { token: TOKEN })).toEqual({
          status: 409,
          text: 'this proxy is already claimed',
        });
      },
      { timeoutMs: 60_000, intervalMs: 500, what: 'the proxy again' },
    );
    const list = await stack.exec('proxy', ['bash', '-c', 'ls /state/turns | wc -l']);
    expect(Number(list.output)).toBeGreaterThanOrEqual(2);
  }, 120_000);

  it('has what commands need, and keeps its memory from them', async () => {
    const { output } = await stack.exec('proxy', [
      'bash',
      '-c',
      'for tool in git curl ps find; do command -v $tool >/dev/null || echo "no $tool"; done; ' +
        'for process in /proc/[0-9]*; do ' +
        'tr "\\0" " " < $process/cmdline 2>/dev/null | grep -q "services/proxy/dist/main.js" || continue; ' +
        '[ "$process" = "/proc/$$" ] && continue; ' +
        'cat $process/environ >/dev/null 2>&1 && echo readable || echo denied; done',
    ]);
    // The init, and the service below it.
    expect(output.trim().split(/\s+/u)).toEqual(['denied', 'denied']);
  });
});
