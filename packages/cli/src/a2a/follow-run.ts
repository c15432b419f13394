import type { CliIo } from '../cli-io.js';
import { counted } from '../ui/numbers.js';
import type { ConnectTo } from './a2a-ports.js';
import type { ConnectSettings } from './a2a-settings.js';
import { askAgent } from './ask-agent.js';
import { pollTask } from './poll-task.js';
import { showEnd } from './show-end.js';
import { isSettled } from './states.js';
import { TaskTrack } from './task-track.js';
import { UpdateView } from './update-view.js';

/** Shows a task until it is settled. @returns the exit code, as of a call. @throws Error when its time is over. */
export async function followTask(
  io: CliIo,
  settings: ConnectSettings,
  connectTo: ConnectTo,
  taskId: string,
): Promise<number> {
  const { timeoutMs } = settings;
  const limit = timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs);
  return askAgent(io, settings, connectTo, async ({ connection, out, err, signal: stop }) => {
    const view = new UpdateView({ io, out, err, isJson: settings.isJson });
    const track = new TaskTrack();
    const startedAt = io.now();
    const signal = limit === undefined ? stop : AbortSignal.any([stop, limit]);
    try {
      // A task that has ended has no stream any more.
      const task = await connection.getTask(taskId, { signal, historyLength: 0 });
      const isStreamed = connection.card.capabilities?.streaming === true && !isSettled(task.state);
      const updates = isStreamed
        ? connection.subscribe(taskId, { signal })
        : pollTask(connection, task, { signal, isFollowUp: false });
      for await (const update of updates) {
        track.see(update);
        await view.show(update);
      }
    } catch (error) {
      await view.end();
      if (limit?.aborted !== true || stop.aborted) throw error;
      throw new Error(`no end within ${counted((timeoutMs ?? 0) / 1_000, 'second')}: the task goes on`, {
        cause: error,
      });
    }
    return showEnd(view, track, { url: settings.url, tookMs: io.now() - startedAt });
  });
}
