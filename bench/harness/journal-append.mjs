import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { JsonlSessionStorage, SessionRecorder } from '@parley/harness';

const ROUND = 20;
const FIRST = '1'.repeat(32);
const SECOND = '2'.repeat(32);

/**
 * Durable records of a journal that holds `before` records already, beside a bare loop that writes and syncs as many
 * bytes: in turns of twenty, so that both see the same disk. Records per second.
 */
export async function journalAppend({ before, count }) {
  const folder = await mkdtemp(join(process.env.BENCH_TMP ?? tmpdir(), 'harness-append-'));
  const storage = new JsonlSessionStorage(folder);
  const filling = new JsonlSessionStorage(folder, { fsync: false });
  const bare = await open(join(folder, 'bare'), 'a');
  const message = (at) => ({ role: 'assistant', content: `answer ${at} ${'x'.repeat(120)}`, toolCalls: [] });
  const append = (recorder, runId, at) => recorder.appendAssistant(runId, at + 2, message(at));
  try {
    const first = new SessionRecorder({ storage: filling, sessionId: 's', agentId: 'bench' });
    await first.beginRun({
      runId: FIRST,
      intent: 'task',
      task: 'go',
      sequence: 1,
      signal: AbortSignal.timeout(60_000),
    });
    for (let at = 0; at < before; at += 1) await append(first, FIRST, at);
    await first.finishRun(FIRST, before + 2, finished);
    await filling.close();

    const recorder = new SessionRecorder({ storage, sessionId: 's', agentId: 'bench' });
    await recorder.open();
    await recorder.beginRun({
      runId: SECOND,
      intent: 'task',
      task: 'on',
      sequence: 1,
      signal: AbortSignal.timeout(60_000),
    });
    await append(recorder, SECOND, 0);
    const bytes = Buffer.byteLength(JSON.stringify((await storage.head('s')).data)) + 300;
    const line = Buffer.alloc(bytes, 120);
    let ours = 0;
    let theirs = 0;
    for (let at = 0; at < count; at += ROUND) {
      const started = performance.now();
      for (let i = 0; i < ROUND; i += 1) await append(recorder, SECOND, at + i);
      const between = performance.now();
      for (let i = 0; i < ROUND; i += 1) {
        await bare.write(line);
        await bare.datasync();
      }
      ours += between - started;
      theirs += performance.now() - between;
    }
    await recorder.release();
    return { bytes, ours: (count * 1e3) / ours, bare: (count * 1e3) / theirs };
  } finally {
    await bare.close();
    await storage.close();
    await rm(folder, { recursive: true });
  }
}

const unknown = null;
const finished = {
  runId: FIRST,
  status: 'completed',
  stopReason: 'text_response',
  output: 'x',
  turns: 1,
  error: null,
  usage: {
    inputTokens: unknown,
    outputTokens: unknown,
    totalTokens: unknown,
    cacheReadTokens: unknown,
    cacheWriteTokens: unknown,
    reasoningTokens: unknown,
    requestCount: 1,
    reportedRequestCount: 0,
  },
};
