import { compileRange, type VersionRange } from './version-range.js';

export type QueryOrder = 'id' | 'freshest' | 'random';

/** One required capability: `translate`, or `translate@^1.2` when the version matters. */
export interface Requirement {
  readonly name: string;
  readonly range?: VersionRange;
}

export interface CatalogueQuery {
  /** All of them; empty: every agent. */
  readonly required?: readonly Requirement[];
  /** All of them must be equal. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly exclude?: readonly string[];
  /** 1-1,000, default 100; larger values count as 1,000. */
  readonly limit?: number;
  readonly cursor?: string;
  /** Default `id`. */
  readonly order?: QueryOrder;
  /** Adds near misses. */
  readonly explain?: boolean;
  /** Adds the count of all matching agents, not only of this page; walks them all. */
  readonly countTotal?: boolean;
}

/** Why an agent did not match. */
export interface NearMiss {
  readonly agentId: string;
  /** Required capabilities it does not have. */
  readonly missing: readonly string[];
  /** `translate@^2: 1.4.0`, or `translate@^2: no version`. */
  readonly versionConflicts: readonly string[];
  /** Wanted labels it does not carry: `region=eu`. */
  readonly labels: readonly string[];
}

export const DEFAULT_LIMIT = 100;
export const MAX_LIMIT = 1_000;
export const MAX_NEAR_MISSES = 20;

export type QueryRefusalCode =
  'invalid_capability' | 'invalid_range' | 'invalid_cursor' | 'invalid_order' | 'invalid_limit';

/** The question itself is wrong. The domain knows no transport, so the edge says what that means on its wire. */
export class QueryRefusal extends Error {
  override readonly name = 'QueryRefusal';
  readonly code: QueryRefusalCode;
  readonly path: string;

  constructor(code: QueryRefusalCode, path: string, message: string) {
    super(message);
    this.code = code;
    this.path = path;
  }
}

const CAPABILITY_NAME = /^[a-zA-Z0-9._:/-]{1,64}$/;

/** @throws QueryRefusal when the name or the range is not valid; `path` says where it stood. */
export function parseRequirement(text: string, path = 'required_capabilities'): Requirement {
  const at = text.indexOf('@');
  const name = at === -1 ? text : text.slice(0, at);
  if (!CAPABILITY_NAME.test(name)) {
    throw new QueryRefusal(
      'invalid_capability',
      path,
      'must be 1-64 of a-z A-Z 0-9 . _ : / -, with @range for a version',
    );
  }
  if (at === -1) return { name };
  const range = compileRange(text.slice(at + 1));
  if (range === undefined) throw new QueryRefusal('invalid_range', path, `not a version range: ${name}@`);
  return { name, range };
}

/** Two requirements for one name must both hold, so they stay two. */
export function parseRequirements(texts: readonly string[], path = 'required_capabilities'): Requirement[] {
  return texts.map((text, index) => parseRequirement(text, `${path}[${String(index)}]`));
}
