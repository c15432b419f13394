export type { Skill } from './skill.js';
export { SkillNotFoundError, SkillsFolderError } from './skill-errors.js';
export { SkillManager, type SelectedSkill, type SkillManagerOptions } from './skill-manager.js';
