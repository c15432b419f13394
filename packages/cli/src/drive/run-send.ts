import type { A2aSender, SentTask } from '@parley/proxy-protocol';
import type { CliIo } from '../cli-io.js';
import { OutputWriter } from '../print/output-writer.js';
import { readInput } from '../print/read-input.js';
import { loadProxyProtocol } from '../proxy-ports.js';
import { untilStopped, type Stoppable } from '../until-stopped.js';
import { neutralise, neutraliseLine, safeJson } from '../ui/neutralise.js';
import { UsageError } from '../usage-error.js';
import type { SendSettings } from './drive-settings.js';

const FAILED_EXIT_CODE = 1;
const CANCEL_MS = 10_000;

/**
 * Sends a message and waits for the end of its task.
 *
 * @returns the exit code. @throws UsageError; Error with one line that says what the agent or the way to it answered.
 */
export async function runSend(settings: SendSettings, io: CliIo): Promise<number> {
  const text = await textOf(settings, io);
  const { A2aSender } = await loadProxyProtocol();
  const sender = new A2aSender({ url: settings.proxyUrl });
  const err = new OutputWriter(io.stderr);
  try {
    return await untilStopped(io, (stoppable) => sendAndWait(settings, text, { ...stoppable, sender, err }));
  } finally {
    await sender.close();
  }
}

interface Sending extends Stoppable {
  readonly sender: A2aSender;
  readonly err: OutputWriter;
}

async function sendAndWait(settings: SendSettings, text: string, sending: Sending): Promise<number> {
  const { sender, out, err, signal, stop } = sending;
  const { timeoutMs, contextId } = settings;
  const timer = timeoutMs === undefined ? undefined : setTimeout(() => stop(FAILED_EXIT_CODE), timeoutMs);
  let sent: SentTask | undefined;
  try {
    sent = await sender.send(text, { contextId, signal });
    if (settings.detaches) {
      await out.write(settings.isJson ? `${safeJson(sent)}\n` : `${neutraliseLine(sent.id)}\n`);
      return 0;
    }
    await err.write(`parley: task ${neutraliseLine(sent.id)} in context ${neutraliseLine(sent.contextId)}\n`);
    const ended = await sender.ended(sent.id, { signal });
    await show(ended, settings, out, err);
    return ended.state === 'completed' ? 0 : FAILED_EXIT_CODE;
  } catch (error) {
    if (signal.aborted && sent !== undefined) await cancel(sender, sent.id, err);
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

async function show(task: SentTask, { isJson }: SendSettings, out: OutputWriter, err: OutputWriter): Promise<void> {
  if (isJson) return out.write(`${safeJson(task)}\n`);
  const text = task.texts.map(neutralise).join('\n');
  if (task.state === 'completed') return out.write(`${text}\n`);
  return err.write(`parley: ${neutraliseLine(task.state)}${text === '' ? '' : `: ${neutraliseLine(text)}`}\n`);
}

async function cancel(sender: A2aSender, taskId: string, err: OutputWriter): Promise<void> {
  try {
    await sender.cancel(taskId, { signal: AbortSignal.timeout(CANCEL_MS) });
    await err.write('parley: canceled\n');
  } catch {
    await err.write(`parley: task ${neutraliseLine(taskId)} could not be canceled\n`);
  }
}

async function textOf({ text, readsInput }: SendSettings, { stdin }: CliIo): Promise<string> {
  if (text === undefined && !readsInput && stdin.isTTY === true) {
    throw new UsageError('a message is needed: as arguments, or on the standard input');
  }
  const input = readsInput || text === undefined ? String(await readInput(stdin)) : '';
  const whole = [text ?? '', input].filter((part) => part.trim() !== '').join('\n\n');
  if (whole === '') throw new UsageError('the message is empty');
  return whole;
}
