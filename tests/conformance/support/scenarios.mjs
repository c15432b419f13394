// What the conformance agent does with a message is chosen by how its message id begins. The official kit and foreign
// judges know the same beginnings; the longest one that fits counts.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Role, TaskState } from '@a2a-js/sdk';
import { AgentEvent } from '@a2a-js/sdk/server';

/** On the agent's card; to use it changes nothing but that the answer says so. */
export const ECHO_EXTENSION = 'urn:parley:conformance:echo:v1';

const RESUBSCRIBE_MS = 4_000;
/** Longer than it takes until a stream without events has to say that it is alive. */
const SILENT_MS = 18_000;

/** One turn of a task, as the scenarios tell it. */
class Turn {
  #context;
  #bus;

  constructor(context, bus, signal) {
    this.#context = context;
    this.#bus = bus;
    this.signal = signal;
  }

  get message() {
    return this.#context.userMessage;
  }

  /** The first event of every turn is the task: a new one, or the one that the message goes on with. */
  open() {
    const { task, taskId, contextId } = this.#context;
    const status = { state: TaskState.TASK_STATE_SUBMITTED, message: undefined, timestamp: timestamp() };
    const fresh = { id: taskId, contextId, artifacts: [], history: [this.message], metadata: undefined };
    this.#bus.publish(AgentEvent.task({ ...(task ?? fresh), status }));
  }

  state(state, text) {
    const { taskId, contextId } = this.#context;
    const message = text === undefined ? undefined : this.#agentMessage(text, taskId);
    const status = { state, message, timestamp: timestamp() };
    this.#bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status, metadata: undefined }));
  }

  working() {
    this.state(TaskState.TASK_STATE_WORKING);
  }

  completed(text) {
    this.state(TaskState.TASK_STATE_COMPLETED, text);
  }

  artifact(parts, { append = false, lastChunk = true } = {}) {
    const { taskId, contextId } = this.#context;
    const artifact = {
      artifactId: 'output',
      name: 'output',
      description: '',
      parts,
      metadata: undefined,
      extensions: [],
    };
    this.#bus.publish(
      AgentEvent.artifactUpdate({ taskId, contextId, artifact, append, lastChunk, metadata: undefined }),
    );
  }

  /** Answers without a task. */
  reply(text) {
    this.#bus.publish(AgentEvent.message(this.#agentMessage(text, '')));
  }

  #agentMessage(text, taskId) {
    return {
      messageId: randomUUID(),
      contextId: this.#context.contextId,
      taskId,
      role: Role.ROLE_AGENT,
      parts: [textPart(text)],
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
    };
  }
}

const completesWith = (part) => (turn) => {
  turn.open();
  turn.artifact([part]);
  turn.completed();
};

const streams = (part) => (turn) => {
  turn.open();
  turn.working();
  turn.artifact([part]);
  turn.completed();
};

const endsAs = (state, text) => (turn) => {
  turn.open();
  turn.state(state, text);
};

const worksFor = (ms) => async (turn) => {
  turn.open();
  turn.working();
  await sleep(ms, undefined, { signal: turn.signal });
  turn.completed();
};

const completes = endsAs(TaskState.TASK_STATE_COMPLETED, 'Hello from TCK');

const SCENARIOS = {
  'tck-complete-task': completes,
  'tck-artifact-text': completesWith(textPart('Generated text content')),
  'tck-artifact-file': completesWith(filePart()),
  'tck-artifact-file-url': completesWith(urlPart('https://example.com/output.txt')),
  'tck-artifact-data': completesWith(dataPart({ key: 'value', count: 42 })),
  'tck-message-response': (turn) => turn.reply('Direct message response'),
  'tck-input-required': endsAs(TaskState.TASK_STATE_INPUT_REQUIRED, 'What else?'),
  'tck-reject-task': endsAs(TaskState.TASK_STATE_REJECTED, 'rejected'),
  'tck-stream-001': streams(textPart('Stream hello from TCK')),
  'tck-stream-002': endsAs(TaskState.TASK_STATE_COMPLETED),
  'tck-stream-003': streams(textPart('Stream task lifecycle')),
  'tck-stream-ordering-001': streams(textPart('Ordered output')),
  'tck-stream-artifact-text': streams(textPart('Streamed text content')),
  'tck-stream-artifact-file': streams(filePart()),
  'tck-stream-artifact-chunked': (turn) => {
    turn.open();
    turn.working();
    turn.artifact([textPart('chunk-1 ')], { append: false, lastChunk: false });
    turn.artifact([textPart('chunk-2')], { append: true, lastChunk: true });
    turn.completed();
  },
  'test-resubscribe-message-id': worksFor(RESUBSCRIBE_MS),
  'bb-silent': worksFor(SILENT_MS),
  'bb-echo': (turn) => {
    turn.open();
    turn.artifact(turn.message.parts);
    turn.completed();
  },
  'bb-nothing': () => undefined,
  'bb-throws': (turn) => {
    turn.open();
    throw new Error('the secret of the scenario');
  },
};

const BY_LENGTH = Object.keys(SCENARIOS).sort((a, b) => b.length - a.length);

/** @returns what the message asks for; completes when it asks for nothing that is known. */
function scenarioFor(messageId) {
  const name = BY_LENGTH.find((prefix) => messageId.startsWith(prefix));
  return name === undefined ? completes : SCENARIOS[name];
}

/** The executor of the conformance agent. */
export class ScenarioExecutor {
  #running = new Map();

  async execute(context, bus) {
    const call = context.context;
    if (call.requestedExtensions?.includes(ECHO_EXTENSION)) call.addActivatedExtension(ECHO_EXTENSION);
    const stop = new AbortController();
    this.#running.set(context.taskId, stop);
    try {
      await scenarioFor(context.userMessage.messageId)(new Turn(context, bus, stop.signal));
    } catch (error) {
      // Whoever cancelled it has told what became of the task.
      if (!stop.signal.aborted) throw error;
    } finally {
      if (this.#running.get(context.taskId) === stop) this.#running.delete(context.taskId);
      bus.finished();
    }
  }

  async cancelTask(taskId, bus) {
    this.#running.get(taskId)?.abort();
    const status = { state: TaskState.TASK_STATE_CANCELED, message: undefined, timestamp: timestamp() };
    bus.publish(AgentEvent.statusUpdate({ taskId, contextId: '', status, metadata: undefined }));
    bus.finished();
  }
}

function timestamp() {
  return new Date().toISOString();
}

function part(content, filename, mediaType) {
  return { content, filename, mediaType, metadata: undefined };
}

function textPart(value) {
  return part({ $case: 'text', value }, '', 'text/plain');
}

function filePart() {
  return part({ $case: 'raw', value: Buffer.from('tck') }, 'output.txt', 'text/plain');
}

function urlPart(value) {
  return part({ $case: 'url', value }, 'output.txt', 'text/plain');
}

function dataPart(value) {
  return part({ $case: 'data', value }, '', 'application/json');
}
