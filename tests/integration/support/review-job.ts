import { setTimeout as sleep } from 'node:timers/promises';
import { connectA2a, type A2aConnection, type A2aTaskState, type TaskArtifact, type TaskPart } from '@parley/agent';
import { AppError } from '@parley/service-kit';
import { onTestsEnd } from '@parley/testkit';

const REQUEST = 'Review this file and summarise the findings in Russian';

/** The main job: words, and a file of TypeScript whose first line is this comment. */
export function reviewJob(comment = 'a file'): TaskPart[] {
  const source = `// ${comment}\nexport function f(a: any) {\n  debugger;\n  if (a == 1) return eval('a');\n  return a;\n}\n`;
  const file = {
    kind: 'bytes',
    bytes: Buffer.from(source),
    name: 'a.ts',
    mediaType: 'application/typescript',
  } as const;
  return [{ kind: 'text', text: REQUEST }, file];
}

/** Work that agent_A does without anybody else. */
export const OWN_JOB: TaskPart[] = [{ kind: 'text', text: 'translate this into German: The agent is good.' }];

/** What somebody who follows a task has seen of it when it is over for them. */
export interface Seen {
  taskId: string | undefined;
  /** In order; the same one in a row counts once. */
  readonly states: A2aTaskState[];
  readonly artifacts: TaskArtifact[];
  /** What the agent said, in order. */
  readonly words: string[];
  /** How the call failed; undefined: the stream came to its end. */
  error: string | undefined;
  /** From the message to the end. */
  ms: number;
}

export async function connect(url: string): Promise<A2aConnection> {
  const connection = await connectA2a({ url });
  onTestsEnd(() => connection.close());
  return connection;
}

export interface Following {
  readonly seen: Seen;
  /** Settles when the stream is over, never rejects; after `limitMs` with the error `hung`. */
  readonly over: Promise<Seen>;
}

/** Sends a message as a stream and follows it. */
export function follow(
  connection: A2aConnection,
  parts: readonly TaskPart[],
  { signal, limitMs = 30_000 }: { readonly signal?: AbortSignal; readonly limitMs?: number } = {},
): Following {
  const seen: Seen = { taskId: undefined, states: [], artifacts: [], words: [], error: undefined, ms: 0 };
  const startedAt = performance.now();
  const limit = new AbortController();
  const read = async (): Promise<void> => {
    try {
      for await (const update of connection.stream(parts, signal === undefined ? {} : { signal })) {
        if (update.kind === 'message') continue;
        if (update.kind === 'artifact') seen.artifacts.push(update.artifact);
        seen.taskId = update.kind === 'task' ? update.task.taskId : update.taskId;
        if (update.kind === 'artifact') continue;
        const { state, message } = update.kind === 'task' ? update.task : update;
        if (seen.states.at(-1) !== state) seen.states.push(state);
        for (const part of message?.parts ?? []) if (part.kind === 'text') seen.words.push(part.text);
      }
    } catch (error) {
      seen.error = error instanceof AppError ? error.code : String(error);
    }
  };
  const hung = sleep(limitMs, undefined, { signal: limit.signal }).then(
    () => {
      seen.error = 'hung';
    },
    () => undefined,
  );
  const over = Promise.race([read(), hung]).then(() => {
    limit.abort();
    seen.ms = Math.round(performance.now() - startedAt);
    return seen;
  });
  return { seen, over };
}
