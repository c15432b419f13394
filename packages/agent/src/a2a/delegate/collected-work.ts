import type { A2aMessage, A2aTask, A2aTaskState, A2aUpdate } from '../client/a2a-connection.js';
import type { TaskArtifact, TaskPart } from '../task-executor.js';

/** What a partner has told of its work so far. */
export class CollectedWork {
  taskId: string | undefined;
  state: A2aTaskState = 'unknown';
  /** The partner's last message. */
  message: A2aMessage | undefined;
  metadata: Readonly<Record<string, unknown>> = {};
  bytes = 0;
  #artifacts = new Map<string, { readonly head: TaskArtifact; readonly parts: TaskPart[] }>();

  get text(): string | undefined {
    const texts = (this.message?.parts ?? []).flatMap((part) => (part.kind === 'text' ? [part.text] : []));
    return texts.length === 0 ? undefined : texts.join('\n');
  }

  get artifacts(): readonly TaskArtifact[] {
    return [...this.#artifacts.values()].map(({ head, parts }) => ({ ...head, parts }));
  }

  add(update: A2aUpdate): void {
    switch (update.kind) {
      case 'task':
        this.#replace(update.task);
        return;
      case 'message':
        this.state = 'completed';
        this.#say(update.message);
        this.#attach(update.message);
        return;
      case 'status':
        this.taskId = update.taskId;
        this.state = update.state;
        this.#say(update.message);
        this.metadata = { ...this.metadata, ...update.metadata };
        return;
      case 'artifact':
        this.taskId = update.taskId;
        this.metadata = { ...this.metadata, ...update.metadata };
        this.#piece(update.artifact);
    }
  }

  /** A whole task holds everything until then. */
  #replace(task: A2aTask): void {
    this.taskId = task.taskId;
    this.state = task.state;
    this.#say(task.message);
    this.metadata = { ...this.metadata, ...task.metadata };
    this.#artifacts.clear();
    this.bytes = 0;
    for (const artifact of task.artifacts) this.#piece(artifact);
  }

  #say(message: A2aMessage | undefined): void {
    if (message === undefined) return;
    this.message = message;
    this.metadata = { ...this.metadata, ...message.metadata };
  }

  /** An answer without a task: what is no text counts as an artifact. */
  #attach({ messageId, parts }: A2aMessage): void {
    const others = parts.filter(({ kind }) => kind !== 'text');
    if (others.length > 0) this.#piece({ artifactId: messageId, name: 'answer', parts: others });
  }

  #piece({ append, lastChunk: _, parts, ...head }: TaskArtifact): void {
    const known = append === true ? this.#artifacts.get(head.artifactId) : undefined;
    this.bytes += parts.reduce((sum, part) => sum + sizeOf(part), 0);
    if (known === undefined) this.#artifacts.set(head.artifactId, { head: { ...head, parts: [] }, parts: [...parts] });
    else known.parts.push(...parts);
  }
}

/** Roughly what it takes in memory; an empty part takes something too. */
function sizeOf(part: TaskPart): number {
  switch (part.kind) {
    case 'text':
      return 64 + part.text.length;
    case 'bytes':
      return 64 + part.bytes.byteLength;
    case 'url':
      return 64 + part.url.length;
    case 'data':
      return 64 + JSON.stringify(part.data ?? null).length;
  }
}
