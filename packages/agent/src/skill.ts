import type { z } from 'zod';

/** The values that a negotiation can agree on. */
export type Scalar = string | number | boolean;

/** One agreed or declared parameter, a JSON Schema of a scalar. */
export interface ParameterSchema {
  readonly type: 'string' | 'number' | 'integer' | 'boolean';
  readonly enum?: readonly Scalar[];
  readonly minimum?: number;
  readonly maximum?: number;
  /** RE2 syntax: matching takes linear time. */
  readonly pattern?: string;
  readonly default?: Scalar;
  readonly required?: boolean;
  readonly description?: string;
}

export interface CapabilityDetail {
  /** A semantic version. */
  readonly version?: string;
  readonly description?: string;
  readonly parameters?: Readonly<Record<string, ParameterSchema>>;
}

export interface SkillContext {
  /** The parameters in force: what was agreed, complete with defaults. */
  readonly parameters: Readonly<Record<string, Scalar>>;
  /** Work ends soon after it is aborted. */
  readonly signal: AbortSignal;
  /** What the work belongs to: for a call, its agreement and call id. Absent: to nothing else. */
  readonly contextId?: string;
}

/**
 * Something an agent can do: the seam between being an agent (registering, negotiating, being called)
 * and doing the work. What is behind it, a plain function or a whole harness, is not seen from here.
 */
export interface Skill<I = unknown> {
  /** The capability's name in the manifest. */
  readonly capability: string;
  readonly detail: CapabilityDetail;
  /** Loads what the first run would have to load. Called once, before the agent registers. */
  readonly prepare?: () => Promise<void>;
  /** Gives free what `prepare` or `run` hold. Called once, when no work is left. */
  readonly close?: () => Promise<void>;
  /** The shape of the work's input; checked before `run`. */
  readonly input: z.ZodType<I>;
  /** @returns a JSON object. @throws AppError for input that no schema can refuse. */
  readonly run: (input: I, context: SkillContext) => Promise<Record<string, unknown>>;
}
