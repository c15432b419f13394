import type { A2aTaskState, A2aUpdate, TaskPart } from '@parley/agent';
import type { CliIo } from '../cli-io.js';
import type { OutputWriter } from '../print/output-writer.js';
import { neutralise, neutraliseLine, safeJson } from '../ui/neutralise.js';
import { SafeStream } from '../ui/safe-stream.js';
import { choosePaint, type Paint, type Tone } from '../ui/style.js';
import { ArtifactBook, type ArtifactNews } from './artifact-book.js';
import { describePart } from './describe-part.js';
import { isSettled, stateName } from './states.js';
import { jsonLine } from './to-json.js';

export interface UpdateViewOptions {
  readonly io: Pick<CliIo, 'stdout' | 'stderr' | 'env'>;
  readonly out: OutputWriter;
  readonly err: OutputWriter;
  readonly isJson: boolean;
}

/** Shows what an agent tells: what it made on the standard output, how it goes on the standard error. */
export class UpdateView {
  readonly #options: UpdateViewOptions;
  readonly #paint: Paint;
  /** Both outputs are one terminal: a line of the one must not begin in the middle of a line of the other. */
  readonly #isOneScreen: boolean;
  readonly #book = new ArtifactBook();
  readonly #safe = new SafeStream();
  /** Whose text was written last. */
  #artifactId: string | undefined;
  #isMidLine = false;
  #lastProgress = '';
  #hasOutput = false;

  constructor(options: UpdateViewOptions) {
    this.#options = options;
    const { stdout, stderr, env } = options.io;
    this.#paint = choosePaint(stderr.isTTY === true, env);
    this.#isOneScreen = stdout.isTTY === true && stderr.isTTY === true;
  }

  get isJson(): boolean {
    return this.#options.isJson;
  }

  /** True once something was written that the task has made. */
  get hasOutput(): boolean {
    return this.#hasOutput;
  }

  /** Resolves when more may be written. */
  async show(update: A2aUpdate): Promise<void> {
    if (this.#options.isJson) {
      await this.#options.out.write(jsonLine(update));
      return;
    }
    switch (update.kind) {
      case 'message':
        await this.answer(update.message.parts);
        return;
      case 'artifact':
        await this.#news(this.#book.take(update.artifact, update.artifact.append === true));
        return;
      case 'status':
        await this.#progress(update.state, update.message?.parts);
        return;
      case 'task':
        for (const artifact of update.task.artifacts) await this.#news(this.#book.take(artifact, false));
        await this.#progress(update.task.state, update.task.message?.parts);
    }
  }

  /** What an agent says instead of making an artifact. */
  async answer(parts: readonly TaskPart[]): Promise<void> {
    await this.#news(this.#book.take({ artifactId: '', name: '', parts }, false));
  }

  /** A line about how it goes. */
  async line(text: string, tone: Tone): Promise<void> {
    if (this.#isOneScreen) await this.#endLine();
    await this.#options.err.write(`${this.#paint(neutralise(text), tone)}\n`);
  }

  /** Nothing comes any more: the last line is ended. */
  async end(): Promise<void> {
    await this.#flush();
    await this.#endLine();
  }

  /** A state that settles the task is shown when all is known: what the agent says then may be all there is. */
  async #progress(state: A2aTaskState, parts: readonly TaskPart[] = []): Promise<void> {
    if (isSettled(state)) return;
    const said = neutraliseLine(textOf(parts));
    const line = said === '' ? stateName(state) : `${stateName(state)}: ${said}`;
    if (line === this.#lastProgress) return;
    this.#lastProgress = line;
    await this.line(line, 'dim');
  }

  async #news(news: ArtifactNews | undefined): Promise<void> {
    if (news === undefined) return;
    if (news.artifactId !== this.#artifactId || news.isReplaced) {
      await this.end();
      this.#artifactId = news.artifactId;
    }
    const name = neutraliseLine(news.name);
    const title = name === '' ? 'artifact' : `artifact ${name}`;
    if (news.isReplaced) await this.line(`${title} begins anew`, 'dim');
    else if (news.isNew && name !== '') await this.line(title, 'dim');
    await this.#write(this.#safe.push(news.text));
    for (const part of news.parts) await this.#part(part, news.hasText);
  }

  /** Data beside a text says the same for programs; what is no text at all is no use on a screen. */
  async #part(part: ArtifactNews['parts'][number], hasText: boolean): Promise<void> {
    if (part.kind === 'bytes' || (part.kind === 'data' && hasText)) {
      await this.line(`${describePart(part)}: --json shows it`, 'dim');
      return;
    }
    await this.end();
    await this.#write(part.kind === 'data' ? `${safeJson(part.data ?? null)}\n` : `${neutraliseLine(part.url)}\n`);
  }

  async #flush(): Promise<void> {
    await this.#write(this.#safe.end());
  }

  async #endLine(): Promise<void> {
    if (this.#isMidLine) await this.#write('\n');
  }

  async #write(text: string): Promise<void> {
    if (text === '') return;
    this.#hasOutput = true;
    this.#isMidLine = !text.endsWith('\n');
    await this.#options.out.write(text);
  }
}

/** The texts of a message, one below the other. */
export function textOf(parts: readonly TaskPart[]): string {
  return parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join('\n');
}
