import { HarnessError } from '../errors.js';

/** The folder of the skills is missing, no folder, or not readable. */
export class SkillsFolderError extends HarnessError {
  override readonly name = 'SkillsFolderError';

  constructor(
    readonly folder: string,
    reason: string,
    options?: { readonly cause?: unknown },
  ) {
    super('skills_folder', `the skills folder ${JSON.stringify(folder)} ${reason}`, options);
  }
}

/** A skill was asked for by a name that none has. */
export class SkillNotFoundError extends HarnessError {
  override readonly name = 'SkillNotFoundError';

  constructor(
    readonly skill: string,
    /** The names of all skills, in folder order. */
    readonly available: readonly string[],
  ) {
    const names = available.length === 0 ? 'there are none' : `there are ${available.join(', ')}`;
    super('skill_not_found', `no skill is named ${JSON.stringify(skill)}; ${names}`);
  }
}

/** Why one skill is left out. Never leaves this folder: it becomes a warning. */
export class BrokenSkillError extends HarnessError {
  override readonly name = 'BrokenSkillError';

  constructor(message: string, options?: { readonly cause?: unknown }) {
    super('broken_skill', message, options);
  }
}
