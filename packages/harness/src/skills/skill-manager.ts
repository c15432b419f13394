import { readdir, realpath } from 'node:fs/promises';
import { messageOf } from '../errors.js';
import { type HarnessLogger, quietLogger } from '../logger.js';
import { errorCode } from './error-code.js';
import type { LoadedSkill, Skill } from './skill.js';
import { BrokenSkillError, SkillNotFoundError, SkillsFolderError } from './skill-errors.js';
import { loadSkill } from './skill-files.js';
import { mentionedSkill } from './skill-mentions.js';
import { activationTextOf, indexTextOf } from './skill-texts.js';

const DEFAULT_MAX_SKILL_BYTES = 262_144;
const MAX_SKILLS = 500;

export interface SkillManagerOptions {
  /** Hears of every skill that is left out, and why. Default silent. */
  readonly logger?: HarnessLogger;
  /** Of each file of a skill. Default 262,144. */
  readonly maxSkillBytes?: number;
}

/** A skill that was picked for a task. */
export interface SelectedSkill {
  readonly name: string;
  /** What the model is told: the whole SKILL.md, then template.md and examples/sample.md if the skill has them. */
  readonly text: string;
}

/**
 * The skills of one folder: each child folder with a SKILL.md is one, in the order of the folders' names. Files are
 * read once, at the start. A skill that is broken, or whose name an earlier one has, is left out with a warning.
 */
export class SkillManager {
  readonly #dir: string;
  readonly #logger: HarnessLogger;
  readonly #maxSkillBytes: number;
  readonly #texts = new Map<LoadedSkill, string>();
  #started: Promise<void> | null = null;
  #skills: readonly LoadedSkill[] = [];
  #indexText: string | null = null;

  constructor(dir: string, options: SkillManagerOptions = {}) {
    this.#dir = dir;
    this.#logger = options.logger ?? quietLogger;
    this.#maxSkillBytes = options.maxSkillBytes ?? DEFAULT_MAX_SKILL_BYTES;
  }

  /** Empty before the start. */
  get skills(): readonly Skill[] {
    return this.#skills;
  }

  /** What the model is shown of all skills; null if there are none. */
  get indexText(): string | null {
    return this.#indexText;
  }

  /**
   * Finds the skills. Does nothing if that was done; may be tried again after a failure.
   *
   * @throws SkillsFolderError if the folder is missing, no folder, or not readable.
   */
  start(): Promise<void> {
    this.#started ??= this.#discover().catch((error: unknown) => {
      this.#started = null;
      throw error;
    });
    return this.#started;
  }

  /**
   * The skill that `explicitName` or else the text asks for, as `$name` or `skill:name`; null if it asks for none. Of
   * several, the first in folder order.
   *
   * @throws SkillNotFoundError if no skill has the explicit name.
   */
  select(newestUserText: string, explicitName?: string): SelectedSkill | null {
    const skill = explicitName === undefined ? mentionedSkill(newestUserText, this.#skills) : this.#named(explicitName);
    return skill === null ? null : { name: skill.name, text: this.#textOf(skill) };
  }

  #named(name: string): LoadedSkill {
    const skill = this.#skills.find((each) => each.name === name);
    if (skill !== undefined) return skill;
    throw new SkillNotFoundError(
      name,
      this.#skills.map((each) => each.name),
    );
  }

  /** The same string each time, so that whoever compares it sees at once that nothing changed. */
  #textOf(skill: LoadedSkill): string {
    const text = this.#texts.get(skill) ?? activationTextOf(skill);
    this.#texts.set(skill, text);
    return text;
  }

  async #discover(): Promise<void> {
    const { root, folders } = await this.#openFolder();
    const skills = new Map<string, LoadedSkill>();
    for (const folder of folders) {
      const skill = await this.#load(root, folder);
      if (skill === null) continue;
      if (skills.has(skill.name))
        this.#leaveOut(folder, `another skill is named ${JSON.stringify(skill.name)} already`);
      else if (skills.size >= MAX_SKILLS) this.#leaveOut(folder, `there are ${MAX_SKILLS} skills already`);
      else skills.set(skill.name, skill);
    }
    this.#skills = [...skills.values()];
    this.#indexText = indexTextOf(this.#skills);
  }

  async #openFolder(): Promise<{ readonly root: string; readonly folders: readonly string[] }> {
    try {
      const root = await realpath(this.#dir);
      // The order of code units, the same on every machine.
      const folders = (await readdir(root)).toSorted((a, b) => (a < b ? -1 : 1));
      return { root, folders };
    } catch (error) {
      throw new SkillsFolderError(this.#dir, reasonOf(error), { cause: error });
    }
  }

  async #load(root: string, folder: string): Promise<LoadedSkill | null> {
    try {
      return await loadSkill(root, folder, this.#maxSkillBytes);
    } catch (error) {
      this.#leaveOut(
        folder,
        error instanceof BrokenSkillError ? error.message : `it is not readable: ${messageOf(error)}`,
      );
      return null;
    }
  }

  #leaveOut(folder: string, reason: string): void {
    this.#logger.warn('a skill is left out', { folder, reason });
  }
}

function reasonOf(error: unknown): string {
  const code = errorCode(error);
  if (code === 'ENOENT') return 'does not exist';
  if (code === 'ENOTDIR') return 'is no folder';
  return 'is not readable';
}
