/** One skill that was found. */
export interface Skill {
  /** From the front matter, or the name of the folder. */
  readonly name: string;
  /** One line; empty if the front matter has none. */
  readonly description: string;
  /** Absolute path of its SKILL.md. */
  readonly location: string;
}

/** A skill with its texts, as they were when it was found. */
export interface LoadedSkill extends Skill {
  /** The whole SKILL.md. */
  readonly instructions: string;
  readonly template: string | null;
  readonly sample: string | null;
}
