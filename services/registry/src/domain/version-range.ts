import { Range } from 'semver';

/** A compiled version range, as in `translate@^1.2`. */
export interface VersionRange {
  readonly text: string;
  /** False for an agent that states no version: it cannot promise one. */
  test(version: string | undefined): boolean;
}

const MAX_RANGE_LENGTH = 128;
const MAX_KEPT_RANGES = 512;
const MAX_KEPT_VERSIONS = 1_024;

class SemverRange implements VersionRange {
  readonly text: string;
  readonly #range: Range;
  readonly #known = new Map<string, boolean>();

  constructor(text: string) {
    this.text = text;
    // Pre-releases count as the versions they are: 1.3.0-rc.1 lies within ^1.2, and two partners of the same
    // pre-release find each other. Without this flag a pre-release satisfies next to nothing.
    this.#range = new Range(text, { includePrerelease: true });
  }

  test(version: string | undefined): boolean {
    if (version === undefined) return false;
    const known = this.#known.get(version);
    if (known !== undefined) return known;
    if (this.#known.size >= MAX_KEPT_VERSIONS) this.#known.clear();
    const answer = this.#range.test(version);
    this.#known.set(version, answer);
    return answer;
  }
}

const kept = new Map<string, VersionRange>();

/** Undefined when the text is not a range. Blank is not one either: `a@` is a slip, not a wish for any version. */
export function compileRange(text: string): VersionRange | undefined {
  const found = kept.get(text);
  if (found !== undefined) return found;
  if (text.trim() === '' || text.length > MAX_RANGE_LENGTH) return undefined;
  let range: VersionRange;
  try {
    range = new SemverRange(text);
  } catch {
    return undefined;
  }
  if (kept.size >= MAX_KEPT_RANGES) kept.clear();
  kept.set(text, range);
  return range;
}
