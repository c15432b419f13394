// What a mock can be told to do, one step at a time. The first key of a step is its verb.
import { existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { fork } from './family.mjs';

const never = () => new Promise(() => undefined);

/**
 * @typedef {object} Turn
 * @property {import('./agent.mjs').MockAgent} agent
 * @property {string | number | undefined} id of the request that is being served
 * @property {string | undefined} sessionId
 * @property {Promise<void>} cancelled
 * @property {any} params
 */

/** @type {Record<string, (step: any, turn: Turn) => unknown>} */
const VERBS = {
  text: ({ text, times = 1, messageId, sessionId }, turn) =>
    turn.agent.chunk(turn, 'agent_message_chunk', text.repeat(times), messageId, sessionId),
  thought: ({ thought, messageId }, turn) => turn.agent.chunk(turn, 'agent_thought_chunk', thought, messageId),
  echo: ({ echo }, turn) => turn.agent.chunk(turn, 'user_message_chunk', echo),
  tool: ({ tool, title = 'Read', kind = 'read', status = 'pending' }, turn) =>
    turn.agent.update(turn, { sessionUpdate: 'tool_call', toolCallId: tool, title, kind, status }),
  toolUpdate: ({ toolUpdate, status }, turn) =>
    turn.agent.update(turn, { sessionUpdate: 'tool_call_update', toolCallId: toolUpdate, status }),
  update: ({ update, sessionId }, turn) => turn.agent.update(turn, update, sessionId),
  /** The answer to a prompt. */
  answer: ({ answer }, turn) => turn.agent.respond(turn, { stopReason: answer }),
  result: ({ result, id }, turn) => turn.agent.respond(turn, result, id),
  /** The answer to a request that will come next. */
  answerNext: ({ answerNext }, turn) => turn.agent.respond(turn, { stopReason: answerNext }, turn.id + 1),
  error: ({ error }, turn) => turn.agent.fail(turn, error),
  /** Bytes as they are. */
  raw: ({ raw }, { agent }) => agent.write(raw),
  /** Everything that the steps write leaves in one write. */
  together: async ({ together }, turn) => {
    turn.agent.hold();
    await runSteps(together, turn);
    turn.agent.release();
  },
  repeat: async ({ repeat, steps }, turn) => {
    for (let i = 0; i < repeat; i += 1) await runSteps(steps, turn);
  },
  wait: ({ wait }) => delay(wait),
  never,
  /** For its second session and later ones. */
  dieAfter: ({ dieAfter }, { agent }) => agent.sessionCount > dieAfter && process.exit(3),
  silentAfter: ({ silentAfter }, { agent }) => (agent.sessionCount > silentAfter ? never() : undefined),
  untilCancel: (_, { cancelled }) => cancelled,
  /** A file in the working folder. */
  untilFile: async ({ untilFile }) => {
    while (!existsSync(untilFile)) await delay(20);
  },
  /** Asks for permission, and waits for the outcome. */
  ask: ({ ask, sessionId }, turn) => turn.agent.askPermission(turn, ask, sessionId),
  /** Goes on without waiting for these. */
  aside: ({ aside }, turn) => turn.agent.run(aside, turn),
  request: ({ request, params = {} }, { agent, sessionId }) => agent.ask(request, { sessionId, ...params }),
  notify: ({ notify, params = {} }, { agent, sessionId }) =>
    agent.send({ method: notify, params: { sessionId, ...params } }),
  /** Says something that only the mock knows. */
  say: ({ say }, turn) => turn.agent.chunk(turn, 'agent_message_chunk', JSON.stringify(turn.agent.known(say, turn))),
  exit: ({ exit }) => process.exit(exit),
  kill: ({ kill }) => {
    process.kill(process.pid, kill);
    return never();
  },
  fork: ({ fork: kind }) => fork(kind),
  close: ({ close }, { agent }) => agent.close(close),
  /** It reads no more of its input. */
  deaf: () => void process.stdin.pause(),
  stderr: ({ stderr }) => new Promise((resolve) => process.stderr.write(stderr, resolve)),
  note: ({ note }, { agent }) => agent.note(note),
};

/**
 * @param {readonly object[]} steps
 * @param {Turn} turn
 */
export async function runSteps(steps, turn) {
  for (const step of steps) {
    const verb = Object.keys(step)[0];
    const run = verb === undefined ? undefined : VERBS[verb];
    if (run === undefined) throw new Error(`no such step: ${JSON.stringify(step)}`);
    // Only steps that wait give others their turn: the rest of a script happens at once.
    const waiting = run(step, turn);
    if (waiting instanceof Promise) await waiting;
  }
}
