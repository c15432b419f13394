/** What an agent answered, the same for all bindings and versions. */
export interface SeenPart {
  readonly text?: string;
  readonly data?: unknown;
  readonly url?: string;
  /** Bytes, as base64. */
  readonly raw?: string;
  readonly name?: string;
}

export interface SeenMessage {
  readonly kind: 'message';
  readonly role: string;
  readonly text: string;
}

export interface SeenArtifact {
  readonly id: string;
  readonly parts: readonly SeenPart[];
  readonly text: string;
}

export interface SeenTask {
  readonly kind: 'task';
  readonly id: string;
  readonly contextId: string;
  /** As 0.3 spells it: `completed`, `input-required`, `canceled`. */
  readonly state: string;
  /** Of the status message. */
  readonly text: string;
  readonly artifacts: readonly SeenArtifact[];
  readonly history: readonly SeenMessage[];
}

export interface SeenStatus {
  readonly kind: 'status';
  readonly taskId: string;
  readonly state: string;
  readonly text: string;
}

export interface SeenChunk {
  readonly kind: 'artifact';
  readonly taskId: string;
  readonly artifact: SeenArtifact;
  readonly append: boolean;
  readonly lastChunk: boolean;
}

export type SeenEvent = SeenTask | SeenMessage | SeenStatus | SeenChunk;

export interface SeenPushConfig {
  readonly id: string;
  readonly url: string;
}

/** In short, for comparing orders: `task:submitted`, `status:working`, `artifact`, `message`. */
export function brief(event: SeenEvent): string {
  return event.kind === 'task' || event.kind === 'status' ? `${event.kind}:${event.state}` : event.kind;
}

/** JSON that others wrote. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the readers look at what they expect
export type Json = any;

/** In the order of the numbers that both protocol buffers give them. */
const STATES = [
  ...['unspecified', 'submitted', 'working', 'completed', 'failed', 'canceled'],
  ...['input-required', 'rejected', 'auth-required'],
];
const ROLES = ['unspecified', 'user', 'agent'];

/** `TASK_STATE_INPUT_REQUIRED`, `input-required` and 6 are the same; so are both spellings of cancelled. */
function stateOf(value: unknown): string {
  if (typeof value === 'number') return STATES[value] ?? String(value);
  const name = String(value)
    .replace(/^TASK_STATE_/, '')
    .toLowerCase()
    .replaceAll('_', '-');
  return name === 'cancelled' ? 'canceled' : name;
}

function roleOf(value: unknown): string {
  if (typeof value === 'number') return ROLES[value] ?? String(value);
  return String(value)
    .replace(/^ROLE_/, '')
    .toLowerCase();
}

/** Covers 1.0 (`raw`, `url`), the 0.3 protocol buffer (`file.fileWithBytes`) and 0.3 JSON (`file.bytes`). */
function partOf(part: Json): SeenPart {
  const { file, data } = part;
  const name = part.filename ?? file?.name;
  const raw = part.raw ?? file?.bytes ?? file?.fileWithBytes;
  const url = part.url ?? file?.uri ?? file?.fileWithUri;
  return {
    ...(part.text === undefined ? {} : { text: part.text }),
    ...(data === undefined ? {} : { data }),
    ...(url === undefined ? {} : { url }),
    ...(raw === undefined ? {} : { raw: typeof raw === 'string' ? raw : Buffer.from(raw).toString('base64') }),
    ...(name === undefined || name === '' ? {} : { name }),
  };
}

function partsOf(holder: Json): SeenPart[] {
  const parts: Json[] = holder?.parts ?? holder?.content ?? [];
  return parts.map(partOf);
}

const textOf = (parts: readonly SeenPart[]) => parts.map(({ text }) => text ?? '').join('');

export function messageOf(message: Json): SeenMessage {
  return { kind: 'message', role: roleOf(message.role), text: textOf(partsOf(message)) };
}

function artifactOf(artifact: Json): SeenArtifact {
  const parts = partsOf(artifact);
  return { id: artifact.artifactId, parts, text: textOf(parts) };
}

const statusText = (status: Json) => textOf(partsOf(status?.message ?? status?.update));

export function taskOf(task: Json): SeenTask {
  return {
    kind: 'task',
    id: task.id,
    contextId: task.contextId,
    state: stateOf(task.status?.state),
    text: statusText(task.status),
    artifacts: (task.artifacts ?? []).map(artifactOf),
    history: (task.history ?? []).map(messageOf),
  };
}

function statusOf(update: Json): SeenStatus {
  const { taskId, status } = update;
  return { kind: 'status', taskId, state: stateOf(status?.state), text: statusText(status) };
}

function chunkOf(update: Json): SeenChunk {
  return {
    kind: 'artifact',
    taskId: update.taskId,
    artifact: artifactOf(update.artifact),
    append: update.append ?? false,
    lastChunk: update.lastChunk ?? false,
  };
}

/** An event or an answer to a message, in any of the three notations. */
export function eventOf(event: Json): SeenEvent {
  if (event.kind === 'task') return taskOf(event);
  if (event.kind === 'message') return messageOf(event);
  if (event.kind === 'status-update') return statusOf(event);
  if (event.kind === 'artifact-update') return chunkOf(event);
  if (event.task !== undefined) return taskOf(event.task);
  const message = event.message ?? event.msg;
  if (message !== undefined) return messageOf(message);
  if (event.statusUpdate !== undefined) return statusOf(event.statusUpdate);
  if (event.artifactUpdate !== undefined) return chunkOf(event.artifactUpdate);
  throw new Error(`not an event: ${JSON.stringify(event).slice(0, 200)}`);
}

/** Of 1.0 (`url` beside the ids) and of 0.3 (inside `pushNotificationConfig`). */
export function pushConfigOf(config: Json): SeenPushConfig {
  const inner = config.pushNotificationConfig ?? config;
  return { id: inner.id, url: inner.url };
}

/** Puts the cases of a protocol buffer's choices where its JSON form has them. */
export function flat(value: Json): Json {
  if (Array.isArray(value)) return value.map(flat);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([key, inner]): [string, Json] =>
    typeof inner?.$case === 'string' ? [inner.$case, flat(inner.value)] : [key, flat(inner)],
  );
  return Object.fromEntries(entries);
}

/** The 0.3 protocol buffer wraps the value of a data part in one more `data`. */
export function unwrapData(value: Json): Json {
  if (Array.isArray(value)) return value.map(unwrapData);
  if (!isObject(value)) return value;
  const { data } = value;
  if (Object.keys(value).length === 1 && isObject(data) && 'data' in data) return { data: data['data'] };
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, unwrapData(inner)]));
}

function isObject(value: unknown): value is Record<string, Json> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !Buffer.isBuffer(value);
}
