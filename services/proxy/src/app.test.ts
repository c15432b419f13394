import { mkdtempSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import express from 'express';
import { message, startClaimedProxy, startProxy, stopProxies, TOKEN } from './proxy.test-helper.js';
import { listenAddress, readProxyConfig } from './config.js';

afterEach(stopProxies);

describe('the environment', () => {
  it('of A2A is taken, and that of the proxy before it', () => {
    expect(listenAddress(readProxyConfig({}))).toEqual({ host: '0.0.0.0', port: 8_000 });
    expect(listenAddress(readProxyConfig({ A2A_HOST: '127.0.0.1', A2A_PORT: '9' }))).toEqual({
      host: '127.0.0.1',
      port: 9,
    });
    const both = { A2A_HOST: 'a', A2A_PORT: '9', PROXY_HOST: '::1', PROXY_HTTP_PORT: '0' };
    expect(listenAddress(readProxyConfig(both))).toEqual({ host: '::1', port: 0 });
  });

  it('that is wrong is refused, a long poll beyond what drivers wait for too', () => {
    for (const env of [{ PROXY_LONG_POLL_SECONDS: '60' }, { PROXY_SHELL: 'yes' }, { PROXY_CONTROL_TOKEN: 'short' }]) {
      expect(() => readProxyConfig(env)).toThrow(Object.keys(env)[0]);
    }
  });
});

describe('stopping', () => {
  it('answers who waits: senders, drivers and actions, and leaves no command running', async () => {
    const proxy = await startClaimedProxy({ env: { PROXY_LONG_POLL_SECONDS: '25' } });
    const task = await proxy.open('x');
    const sending = proxy.rpc('message/send', message('y', {}, { blocking: true }));
    const { version } = (await proxy.op('next', { after: 1 })).json as { version: number };
    const waiting = proxy.op('next', { after: version });
    const action = { kind: 'bash', command: "trap '' TERM; echo $$; sleep 300 & wait; wait" };
    const acting = proxy.op('act', { task_id: task, action_id: 'a', action });
    let pid = 0;
    while (pid === 0) {
      const { output } = (await proxy.op('result', { action_id: 'a', after: 0 })).json as {
        output: { stdout: string };
      };
      pid = Number(output.stdout);
    }
    const started = performance.now();
    expect(new Set(await proxy.stop())).toEqual(new Set(['done']));
    expect(performance.now() - started).toBeLessThan(5_000);
    expect((await sending).result?.['status']).toMatchObject({ state: 'working' });
    expect((await waiting).status).toBe(200);
    expect((await acting).json).toEqual({ done: false });
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });
});

describe('a restart', () => {
  const folders: string[] = [];
  const folder = (): string => {
    const made = mkdtempSync(join(tmpdir(), 'proxy-state-'));
    folders.push(made);
    return made;
  };
  afterAll(() => {
    for (const one of folders) rmSync(one, { recursive: true, force: true });
  });

  it('with a state folder keeps claim, turn, configuration, skills and trajectory', async () => {
    const home = folder();
    const env = { PROXY_STATE_DIR: folder() };
    const before = await startClaimedProxy({ home, env });
    await before.post('/ext/agent-config', { system_prompt: 'SP' });
    await before.post('/ext/skill-config', { name: 's', description: 'd', skill_md: 'x' });
    const task = await before.open('hello', 'ctx');
    const { version } = (await before.op('next', { after: 0 })).json as { version: number };
    const call = { id: 'c1', function: { name: 'bash', arguments: '{"command":"echo 1"}' } };
    await before.op('record', { task_id: task, message: { role: 'assistant', tool_calls: [call] } });
    await before.stop();

    const after = await startProxy({ home, env });
    expect((await after.op('claim', { token: 'x'.repeat(30) })).status).toBe(409);
    const next = (await after.op('next', { after: version })).json as { version: number; turns: object[] };
    expect(next.version).toBeGreaterThan(version);
    expect(next.turns).toEqual([
      {
        task_id: task,
        context_id: 'ctx',
        parts: [{ kind: 'text', text: 'hello' }],
        system_prompt: 'SP',
        skills: [{ name: 's', description: 'd', path: join(home, 'skills', 's') }],
        pending_calls: [{ id: 'c1', name: 'bash', arguments: { command: 'echo 1' } }],
      },
    ]);
    const acted = await after.op('act', { task_id: task, action_id: 'a', action: { kind: 'bash', command: 'echo 1' } });
    expect(acted.json).toMatchObject({ result: { stdout: '1\n' } });
    expect((await after.end(task, 'bye')).result?.['status']).toMatchObject({ state: 'completed' });
    const { trajectory } = (await after.post('/ext/trajectory', { task_id: task })).json as {
      trajectory: { name: string }[];
    };
    expect(trajectory.map(({ name }) => name)).toEqual(['chat', 'bash', 'turn']);
  });

  it('without one forgets all', async () => {
    const before = await startClaimedProxy();
    await before.stop();
    const after = await startProxy();
    expect((await after.op('next')).status).toBe(401);
    expect((await after.op('claim', { token: 'y'.repeat(30) })).status).toBe(200);
  });
});

describe('operations', () => {
  it('tells health, readiness, metrics and an OpenAPI document', async () => {
    const proxy = await startClaimedProxy();
    const task = await proxy.open('x');
    await proxy.op('act', { task_id: task, action_id: 'a', action: { kind: 'bash', command: 'true' } });
    await proxy.op('act', { task_id: task, action_id: 'b', action: { kind: 'bash', command: 'exit 3' } });
    expect((await proxy.ask('/health')).text).toBe('{"status":"ok"}');
    expect((await proxy.ask('/healthz')).json).toEqual({ status: 'ok' });
    expect((await proxy.ask('/readyz')).json).toEqual({ status: 'ready', checks: { serving: 'yes' } });
    expect((await proxy.ask('/openapi.json')).json).toMatchObject({ paths: { '/ext/proxy/act': { post: {} } } });
    const metrics = (await proxy.ask('/metrics')).text;
    expect(metrics).toContain('parley_proxy_turns_open{service="proxy"} 1');
    expect(metrics).toContain('parley_proxy_actions_total{kind="bash",cause="done",ok="true",service="proxy"} 1');
    expect(metrics).toContain('parley_proxy_actions_total{kind="bash",cause="done",ok="false",service="proxy"} 1');
    expect(metrics).not.toContain(TOKEN);
  });

  it('serves an extension on the same port, tells it when the proxy serves, and stops it early', async () => {
    const router = express.Router();
    router.get('/more', (_request, response) => {
      response.json({ more: true });
    });
    const seen: unknown[] = [];
    const stopped = { name: 'extension', timeoutMs: 100, run: () => void seen.push('stopped') };
    const proxy = await startProxy({
      extend: ({ engine }) => {
        seen.push(engine.counts.openTurns);
        return { router, serving: (port) => Promise.resolve(void seen.push(port)), shutdownPhases: [stopped] };
      },
    });
    expect((await proxy.ask('/more')).json).toEqual({ more: true });
    expect((await proxy.ask('/health')).status).toBe(200);
    const { httpPort } = proxy.app;
    await proxy.stop();
    expect(seen).toEqual([0, httpPort, 'stopped']);
  });
});

describe('spans', () => {
  let collector: Server;
  const bodies: string[] = [];

  beforeEach(async () => {
    bodies.length = 0;
    collector = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        bodies.push(body);
        response.setHeader('content-type', 'application/json');
        response.end('{}');
      });
    });
    collector.listen(0, '127.0.0.1');
    await once(collector, 'listening');
    process.env['OTEL_EXPORTER_OTLP_ENDPOINT'] =
      `http://127.0.0.1:${String((collector.address() as AddressInfo).port)}`;
  });

  afterEach(() => {
    delete process.env['OTEL_EXPORTER_OTLP_ENDPOINT'];
    collector.closeAllConnections();
    collector.close();
  });

  it('of a turn that has just ended are sent before the proxy stops', async () => {
    const proxy = await startClaimedProxy();
    const task = await proxy.open('x');
    await proxy.end(task, 'the answer');
    await proxy.stop();
    expect(bodies.join('')).toContain('invoke_agent');
    expect(bodies.join('')).toContain('the answer');
    expect(bodies.join('')).not.toContain(TOKEN);
  });

  it('that nobody takes do not hold the proxy up', async () => {
    const proxy = await startClaimedProxy();
    collector.removeAllListeners('request');
    await proxy.end(await proxy.open('x'), 'x');
    const started = performance.now();
    expect(new Set(await proxy.stop())).toEqual(new Set(['done']));
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});

describe('what only this proxy has', () => {
  it('tells the output of a command while it runs, and ends one on request', async () => {
    const proxy = await startClaimedProxy();
    const task = await proxy.open('x');
    const action = { kind: 'bash', command: 'echo one; sleep 300' };
    await proxy.op('act', { task_id: task, action_id: 'a', action });
    const first = (await proxy.op('result', { action_id: 'a', after: 0 })).json;
    expect(first).toEqual({ done: false, output: { stdout: 'one\n', stderr: '', next: 4 } });
    expect((await proxy.op('next')).json).toMatchObject({
      turns: [{ actions: [{ action_id: 'a', done: false, action }] }],
    });
    const ended = await proxy.op('cancel', { action_id: 'a' });
    expect(ended.json).toMatchObject({ done: true, result: { kind: 'bash', stdout: 'one\n' } });
    expect((await proxy.op('result', { action_id: 'a' })).json).toEqual(ended.json);
    expect(
      (await proxy.op('act', { task_id: task, action_id: 'b', action: { kind: 'bash', command: 'echo on' } })).status,
    ).toBe(200);
  });

  it('tells what was left out of a long output', async () => {
    const proxy = await startClaimedProxy({ env: { PROXY_MAX_OUTPUT_BYTES: '1024' } });
    const task = await proxy.open('x');
    const action = { kind: 'bash', command: 'head -c 5000 /dev/zero | tr "\\0" x' };
    const { json } = await proxy.op('act', { task_id: task, action_id: 'a', action });
    expect(json).toMatchObject({ result: { truncated: true, stdout_bytes: 5000, stderr_bytes: 0, exit_code: 0 } });
    expect((json as { result: { stdout: string } }).result.stdout.length).toBeLessThan(2_000);
  });
});
