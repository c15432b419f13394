import { join } from 'node:path';
import { Refusal } from '../../domain/facts.js';
import type { ProxyEngine } from '../../engine/index.js';
import { refuseFields } from '../config/no-fields.js';
import type { ProxyRoute } from '../routes.js';
import type { ObjectStore } from '../transfers/index.js';
import { FolderTaken, makeSkillFolder } from './skill-folder.js';
import { readSkillRequest, type SkillRequest } from './skill-request.js';

const PATH = '/ext/skill-config';
/** The framework waits 180 s for an answer. */
const BUNDLE_MS = 170_000;

export interface SkillRoutesDeps {
  readonly engine: ProxyEngine;
  /** Absolute; holds one folder for each skill. */
  readonly skillsFolder: string;
  readonly store: ObjectStore;
  /** Aborts when the service stops. */
  readonly closing: AbortSignal;
}

export function skillRoutes(deps: SkillRoutesDeps): readonly ProxyRoute[] {
  const { engine } = deps;
  /** Names whose folders are being made. Skills of other names are not held up meanwhile. */
  const underWay = new Set<string>();
  return [
    {
      method: 'POST',
      path: PATH,
      summary: 'Adds a skill for the turns to come.',
      isControl: true,
      handle: async ({ fields, signal }) => {
        const skill = readSkillRequest(fields);
        const { name } = skill;
        if (underWay.has(name) || engine.skills.some((known) => known.name === name)) {
          throw new Refusal(409, `Skill '${name}' is already registered`);
        }
        if (!engine.hasShell) throw new Refusal(409, 'this proxy works in no sandbox, so it keeps no skills');
        underWay.add(name);
        try {
          await addSkill(skill, deps, AbortSignal.any([signal, deps.closing, AbortSignal.timeout(BUNDLE_MS)]));
        } finally {
          underWay.delete(name);
        }
        return { name };
      },
    },
    {
      method: 'GET',
      path: PATH,
      summary: 'The skills added.',
      isControl: true,
      handle: ({ fields }) => {
        refuseFields(fields, 'list');
        const entries = engine.skills.map(({ name, description }) => [name, { description }]);
        return { skills: Object.fromEntries(entries) as object };
      },
    },
  ];
}

async function addSkill(skill: SkillRequest, deps: SkillRoutesDeps, signal: AbortSignal): Promise<void> {
  const { name, description, content } = skill;
  const path = join(deps.skillsFolder, name);
  try {
    await makeSkillFolder(path, content, deps.store, signal);
  } catch (error) {
    if (error instanceof FolderTaken) throw new Refusal(409, `skill '${name}' is already added`);
    throw error;
  }
  await deps.engine.addSkill({ name, description, path });
}
