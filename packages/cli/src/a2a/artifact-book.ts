import type { TaskArtifact, TaskPart } from '@parley/agent';

/** What a reader has not seen yet of an artifact. */
export interface ArtifactNews {
  readonly artifactId: string;
  readonly name: string;
  readonly isNew: boolean;
  /** What was shown of it before is not true any more. */
  readonly isReplaced: boolean;
  /** More of its text. */
  readonly text: string;
  /** More of what is no text. */
  readonly parts: readonly Exclude<TaskPart, { kind: 'text' }>[];
  /** True if the artifact has text, so that its data only repeats it for programs. */
  readonly hasText: boolean;
}

interface Known {
  text: string;
  otherCount: number;
}

/**
 * Remembers what was shown of artifacts. They come in pieces, and again as a whole: with a task, or after a stream broke
 * and was taken up again.
 */
export class ArtifactBook {
  readonly #known = new Map<string, Known>();

  /** @returns undefined if there is nothing new. */
  take(artifact: TaskArtifact, append: boolean): ArtifactNews | undefined {
    const { artifactId, name, parts } = artifact;
    const text = parts.map((part) => (part.kind === 'text' ? part.text : '')).join('');
    const others = parts.filter((part) => part.kind !== 'text');
    const known = this.#known.get(artifactId);
    if (known === undefined) {
      this.#known.set(artifactId, { text, otherCount: others.length });
      return { artifactId, name, isNew: true, isReplaced: false, text, parts: others, hasText: text !== '' };
    }
    const base = { artifactId, name, isNew: false };
    if (append) {
      known.text += text;
      known.otherCount += others.length;
      return { ...base, isReplaced: false, text, parts: others, hasText: known.text !== '' };
    }
    const isReplaced = !text.startsWith(known.text);
    const newText = isReplaced ? text : text.slice(known.text.length);
    const newParts = isReplaced ? others : others.slice(known.otherCount);
    this.#known.set(artifactId, { text, otherCount: others.length });
    if (newText === '' && newParts.length === 0) return undefined;
    return { ...base, isReplaced, text: newText, parts: newParts, hasText: text !== '' };
  }
}
