import type { TaskArtifact, TaskReporter } from '@parley/agent';
import { type AppError } from '@parley/service-kit';
import { present } from '../present/present.js';
import { asRecord } from './as-record.js';
import type { Materials } from './material.js';
import type { Missing } from './pending-question.js';

/** Characters of an output that a model is given whole; of a longer one it gets the beginning and the name. */
const MAX_GIVEN_CHARS = 12_000;
const BEGINNING_CHARS = 4_000;

export interface TurnLedgerOptions {
  readonly agentId: string;
  readonly reporter: TaskReporter;
  readonly materials: Materials;
  readonly newId: () => string;
}

/** What one turn did: passes deliverables on as they come, and knows at the end what was and what was not done. */
export class TurnLedger {
  readonly materials: Materials;
  readonly agentId: string;
  question: { readonly text: string; readonly missing: Missing } | undefined;
  refusal: string | undefined;
  /** Capabilities that gave something. */
  readonly done = new Set<string>();
  /** Characters that went to the model. */
  given = 0;
  readonly #reporter: TaskReporter;
  readonly #newId: () => string;
  readonly #failures = new Map<string, AppError>();

  constructor({ agentId, reporter, materials, newId }: TurnLedgerOptions) {
    this.agentId = agentId;
    this.#reporter = reporter;
    this.materials = materials;
    this.#newId = newId;
  }

  /** What was tried and did not succeed in the end. */
  get failures(): ReadonlyMap<string, AppError> {
    return this.#failures;
  }

  working(text: string): void {
    this.#reporter.working(text);
  }

  /** @returns what the model is told of an output of a skill. */
  deliver(capability: string, output: Record<string, unknown>, parameters: Readonly<Record<string, unknown>>): object {
    const { markdown, text } = present(capability, output);
    this.#reporter.artifact({
      artifactId: this.#newId(),
      name: capability,
      parts: [
        { kind: 'text', text: markdown, mediaType: 'text/markdown' },
        { kind: 'data', data: output, mediaType: 'application/json' },
      ],
    });
    this.#succeeded(capability, this.agentId);
    return this.#give(text, 'text/plain', { by: this.agentId, parameters, output });
  }

  /** Passes on what a partner made. @returns what the model is told. */
  deliverFrom(
    partner: {
      readonly agentId: string;
      readonly text: string | undefined;
      readonly artifacts: readonly TaskArtifact[];
    },
    capability: string,
    parameters: Readonly<Record<string, unknown>>,
  ): object {
    const { agentId, artifacts } = partner;
    for (const artifact of artifacts) {
      // Ids are unique within the partner's task, not within this one.
      const description = artifact.description ?? `Made by ${agentId}.`;
      this.#reporter.artifact({ ...artifact, artifactId: this.#newId(), description, append: false, lastChunk: true });
    }
    this.#succeeded(capability, agentId);
    const parts = artifacts.flatMap((artifact) => artifact.parts);
    const output = parts
      .map((part) => (part.kind === 'data' ? asRecord(part.data) : undefined))
      .find((data) => data !== undefined);
    const texts = parts.flatMap((part) => (part.kind === 'text' ? [part.text] : []));
    const report = texts.length > 0 ? texts.join('\n\n') : (partner.text ?? '');
    const text = output === undefined ? report : present(capability, output).text;
    return this.#give(text, 'text/plain', {
      by: agentId,
      parameters,
      ...(output === undefined ? { text } : { output }),
    });
  }

  failed(capability: string, error: AppError): void {
    this.#failures.set(capability, error);
    this.#reporter.working(`${capability}: ${error.message}`);
  }

  #succeeded(capability: string, by: string): void {
    this.done.add(capability);
    this.#failures.delete(capability);
    this.#reporter.working(`${capability}: ${by} has done it`);
  }

  #give(text: string, mediaType: string, told: Record<string, unknown>): object {
    const part = this.materials.addResult(text, mediaType);
    const size = JSON.stringify(told).length;
    if (size <= MAX_GIVEN_CHARS) {
      this.given += size;
      return { part, ...told };
    }
    this.given += BEGINNING_CHARS;
    const beginning = text.slice(0, BEGINNING_CHARS).toWellFormed();
    return { part, by: told['by'], parameters: told['parameters'], characters: text.length, beginning };
  }
}
