import type { CliIo } from '../cli-io.js';
import type { OutputWriter } from '../print/output-writer.js';
import { readInput } from '../print/read-input.js';
import { choosePaint, type Line } from '../ui/style.js';
import { UsageError } from '../usage-error.js';
import type { ConnectTo } from './a2a-ports.js';
import type { A2aSettings, MessageSettings } from './a2a-settings.js';
import { askAgent, type Asking } from './ask-agent.js';
import { CallRun } from './call-run.js';
import { connectTo as connectToReal } from './connect-to.js';
import { describeFailure } from './describe-failure.js';
import { followTask } from './follow-run.js';
import { listTasks } from './list-tasks.js';
import { messageParts } from './message-parts.js';
import { cardLines } from './render-card.js';
import { taskLines, taskRow } from './render-task.js';
import { jsonLine } from './to-json.js';

/**
 * One of the commands that speak with an agent.
 *
 * @returns the exit code. @throws UsageError; Error with one line that says what the agent or the way to it answered.
 */
export async function runA2a(settings: A2aSettings, io: CliIo, connectTo: ConnectTo = connectToReal): Promise<number> {
  try {
    return await runCommand(settings, io, connectTo);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new Error(describeFailure(error), { cause: error });
  }
}

async function runCommand(settings: A2aSettings, io: CliIo, connectTo: ConnectTo): Promise<number> {
  const { connect } = settings;
  switch (settings.type) {
    case 'call': {
      const { message } = settings;
      const parts = await messageParts(await textFor(message, io), message);
      return new CallRun(io, settings, connectTo).run(parts);
    }
    case 'card':
      return askAgent(io, connect, connectTo, async ({ connection: { card }, out }) => {
        if (connect.isJson) await out.write(jsonLine(card));
        else await writeLines(io, out, cardLines(card));
        return 0;
      });
    case 'tasks':
      return askAgent(io, connect, connectTo, (asking) => showTasks(settings, io, asking));
    case 'task':
      if (settings.follows) return followTask(io, connect, connectTo, settings.taskId);
      return askAgent(io, connect, connectTo, async ({ connection, out, signal }) => {
        const task = await connection.getTask(settings.taskId, { signal });
        if (connect.isJson) await out.write(jsonLine(task));
        else await writeLines(io, out, taskLines(task));
        return 0;
      });
    case 'cancel':
      return askAgent(io, connect, connectTo, async ({ connection, out, signal }) => {
        const task = await connection.cancelTask(settings.taskId, { signal });
        if (connect.isJson) await out.write(jsonLine(task));
        else await writeLines(io, out, [taskRow(task)]);
        return 0;
      });
  }
}

async function showTasks(
  settings: Extract<A2aSettings, { readonly type: 'tasks' }>,
  io: CliIo,
  { connection, out, err, signal }: Asking,
): Promise<number> {
  const { tasks, total } = await listTasks(connection, settings, signal);
  for (const task of tasks) {
    if (settings.connect.isJson) await out.write(jsonLine(task));
    else await writeLines(io, out, [taskRow(task)]);
  }
  if (tasks.length === 0) await err.write('parley: no tasks\n');
  else if (total > tasks.length) await err.write(`parley: ${tasks.length} of ${total}: --limit shows more\n`);
  return 0;
}

async function writeLines(io: CliIo, out: OutputWriter, lines: readonly Line[]): Promise<void> {
  const paint = choosePaint(io.stdout.isTTY === true, io.env);
  const rows = lines.map((line) => line.map(({ text, tone }) => paint(text, tone)).join(''));
  await out.write(`${rows.join('\n')}\n`);
}

/** The words of the arguments, and the standard input where it was asked for or is all there can be. */
async function textFor({ text, readsInput, files, data }: MessageSettings, { stdin }: CliIo): Promise<string> {
  const isNothingElse = text === undefined && files.length === 0 && data.length === 0;
  if (isNothingElse && !readsInput && stdin.isTTY === true) {
    throw new UsageError('a message is needed: as arguments, --file, --data, or on the standard input');
  }
  const input = readsInput || isNothingElse ? await readInput(stdin) : '';
  const whole = [text ?? '', String(input)].filter((part) => part.trim() !== '').join('\n\n');
  if (whole === '' && files.length === 0 && data.length === 0) throw new UsageError('the message is empty');
  return whole;
}
