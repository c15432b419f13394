import type { CapabilityTerm } from './capability-term.js';
import { isoTime } from './iso-time.js';
import { fromManifestJson } from './manifest.js';
import type { AgentRecord, LeaseView, Manifest } from './types.js';

/** An agent is told to renew at a third of its lease: two renewals may be lost before it expires. */
export const RENEWALS_PER_LEASE = 3;

export function leaseView(ttlMs: number, deadlineMs: number): LeaseView {
  return { ttlMs, expiresAtMs: deadlineMs, renewEveryMs: Math.floor(ttlMs / RENEWALS_PER_LEASE) };
}

/** The part of the answer that the registry adds to a manifest, ready to stand before its closing brace. */
export function leaseTail(record: Omit<AgentRecord, 'agentId' | 'manifestJson'>): string {
  const lease = `{"ttl_seconds":${String(record.ttlMs / 1_000)},"expires_at":"${isoTime(record.deadlineMs)}","renew_every_seconds":${String(Math.floor(record.ttlMs / RENEWALS_PER_LEASE) / 1_000)}}`;
  return `,"lease":${lease},"revision":${String(record.revision)},"registered_at":"${isoTime(record.registeredAtMs)}"}`;
}

const ASCII_ONLY = /^[\x00-\x7f]*$/;

/** A text put together from pieces stays a tree of pieces; written twenty times a page, each piece is a cache miss. */
function flat(text: string, ascii: boolean): string {
  return ascii ? Buffer.from(text, 'latin1').toString('latin1') : Buffer.from(text).toString();
}

/**
 * One registration in memory. There may be a hundred thousand of them and every heartbeat touches one, so it keeps the
 * manifest as the text that is answered, its capabilities as references to shared terms, and no collections of its own.
 */
export class AgentEntry implements AgentRecord {
  readonly agentId: string;
  readonly ttlMs: number;
  readonly revision: number;
  readonly registeredAtMs: number;
  readonly terms: readonly CapabilityTerm[];
  /** Parallel to `terms`; absent when no capability has a version. */
  readonly versions: readonly (string | undefined)[] | undefined;
  /** Names and values in turn; absent without labels. */
  readonly labels: readonly string[] | undefined;
  /** Union of the signatures of `terms`. */
  readonly signature: number;
  /** Whether `render()` has ASCII only: its length is then its length in bytes. */
  readonly ascii: boolean;
  #deadlineMs: number;
  /** The manifest, and once it was asked for the whole answer: then a page reads one stretch of memory per agent. */
  #text: string;
  /** Up to here `#text` is the manifest without its closing brace. */
  readonly #manifestEnd: number;
  #isRendered = false;
  /** Its number in the slot table, kept by the catalogue; -1 outside. */
  slot = -1;
  /** Place in the deadline heap, kept by it; -1 outside. */
  heapIndex = -1;
  /** The last snapshot that contained this entry. */
  generation = 0;

  constructor(
    record: AgentRecord,
    facets: {
      readonly terms: readonly CapabilityTerm[];
      readonly versions: readonly (string | undefined)[] | undefined;
      readonly labels: readonly string[] | undefined;
    },
  ) {
    this.agentId = record.agentId;
    this.#text = record.manifestJson;
    this.#manifestEnd = record.manifestJson.length - 1;
    this.ttlMs = record.ttlMs;
    this.revision = record.revision;
    this.registeredAtMs = record.registeredAtMs;
    this.terms = facets.terms;
    this.versions = facets.versions;
    this.labels = facets.labels;
    let signature = 0;
    for (const term of facets.terms) signature |= term.signature;
    this.signature = signature;
    this.ascii = ASCII_ONLY.test(record.manifestJson);
    this.#deadlineMs = record.deadlineMs;
  }

  get manifestJson(): string {
    return `${this.#text.slice(0, this.#manifestEnd)}}`;
  }

  get deadlineMs(): number {
    return this.#deadlineMs;
  }

  /** For the catalogue, which keeps the deadline order. */
  setDeadline(deadlineMs: number): void {
    this.#deadlineMs = deadlineMs;
    this.#isRendered = false;
  }

  /** The agent as the edge answers it: its manifest with lease, revision and time of registration. */
  render(): string {
    if (!this.#isRendered) {
      this.#text = flat(this.#text.slice(0, this.#manifestEnd) + leaseTail(this), this.ascii);
      this.#isRendered = true;
    }
    return this.#text;
  }

  lease(): LeaseView {
    return leaseView(this.ttlMs, this.#deadlineMs);
  }

  /** Parsed anew each time: keeping it would double the memory of an entry. */
  manifest(): Manifest {
    return fromManifestJson(this.manifestJson);
  }

  version(term: CapabilityTerm): string | undefined {
    return this.versions?.[this.terms.indexOf(term)];
  }

  hasLabel(name: string, value: string): boolean {
    const labels = this.labels;
    if (labels === undefined) return false;
    for (let i = 0; i < labels.length; i += 2) if (labels[i] === name) return labels[i + 1] === value;
    return false;
  }
}
