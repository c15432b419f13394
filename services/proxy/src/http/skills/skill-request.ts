import type { Json, JsonObject } from '../../domain/facts.js';
import { listOf, looseInteger, request, requireFields, shape, text, wrongField } from '../fields/index.js';
import { readObject, type ReadObject } from '../transfers/index.js';

export interface SkillFile {
  /** Normalised, relative, parts divided by `/`. */
  readonly path: string;
  readonly object: ReadObject;
}

export interface SkillRequest {
  readonly name: string;
  readonly description: string;
  readonly content: { readonly skillMd: string } | { readonly files: readonly SkillFile[] };
}

const MAX_FILES = 4_096;
const MAX_TOTAL_BYTES = 16 * 1024 ** 3;

const name = text({ pattern: /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/ });
const description = text();

const inlineRequest = request({ name, description, skill_md: text() }, {});
const bundleRequest = request(
  {
    name,
    description,
    skill_bundle: shape(
      {
        max_total_bytes: looseInteger({ min: 1, max: MAX_TOTAL_BYTES }),
        files: listOf(shape({ path: relativePath, object: readObject }, {}), { max: MAX_FILES }),
      },
      {},
    ),
  },
  {},
);

/** @throws Refusal 400 */
export function readSkillRequest(fields: JsonObject): SkillRequest {
  requireFields(fields, ['name', 'description']);
  const hasText = Object.hasOwn(fields, 'skill_md');
  if (hasText === Object.hasOwn(fields, 'skill_bundle')) {
    throw wrongField('', 'a skill carries exactly one of skill_md and skill_bundle');
  }
  if (hasText) {
    const read = inlineRequest(fields);
    return { name: read.name, description: read.description, content: { skillMd: read.skill_md } };
  }
  const read = bundleRequest(fields);
  const { files, max_total_bytes: maxBytes } = read.skill_bundle;
  checkFiles(files, maxBytes);
  return { name: read.name, description: read.description, content: { files } };
}

function checkFiles(files: readonly SkillFile[], maxBytes: number): void {
  const paths = new Set(files.map((file) => file.path));
  if (paths.size !== files.length) throw wrongField('skill_bundle', 'paths must be unique');
  if (!paths.has('SKILL.md')) throw wrongField('skill_bundle', 'must contain SKILL.md at its root');
  const total = files.reduce((sum, file) => sum + file.object.maxBytes, 0);
  if (total > maxBytes) throw wrongField('skill_bundle', 'the limits of its files exceed max_total_bytes');
  const isNested = files.some(({ path }) => parents(path).some((parent) => paths.has(parent)));
  if (isNested) throw wrongField('skill_bundle', 'a file cannot be the folder of another');
}

function parents(path: string): string[] {
  const parts = path.split('/');
  return parts.slice(1).map((_part, at) => parts.slice(0, at + 1).join('/'));
}

function relativePath(value: Json, path: string): string {
  const read = text({ min: 1, max: 1_024 })(value, path);
  const isOdd = /[\\\0]/.test(read) || read.split('/').some((part) => part === '' || part === '.' || part === '..');
  if (isOdd) throw wrongField(path, 'must be a normalized relative POSIX path');
  return read;
}
