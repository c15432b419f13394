import type { Scalar } from '@parley/agent';
import { AppError, REASONS, type FieldError, type Reason } from '@parley/service-kit/base';
import { z } from 'zod';

/** One piece of work of a skill, as it is handed to a child. */
export interface SkillErrand {
  readonly tool: string;
  readonly input: unknown;
  readonly parameters: Readonly<Record<string, Scalar>>;
}

/** What comes back: what the skill gave, or what it threw. */
export type SkillAnswer = { readonly output: Readonly<Record<string, unknown>> } | { readonly error: AppError };

const errandShape = z.strictObject({
  tool: z.string().min(1).max(128),
  input: z.unknown(),
  parameters: z.record(z.string().max(64), z.union([z.string(), z.number(), z.boolean()])),
});

const REASON_NAMES = Object.keys(REASONS) as [Reason, ...Reason[]];

const errorShape = z.strictObject({
  reason: z.enum(REASON_NAMES),
  code: z.string().min(1).max(128),
  message: z.string().max(4_096),
  errors: z.array(z.strictObject({ path: z.string(), message: z.string() })).max(100),
});

const answerShape = z.union([
  z.strictObject({ output: z.record(z.string(), z.unknown()) }),
  z.strictObject({ error: errorShape }),
]);

/** All of it as JSON: nothing inside the input can end it and speak for itself. */
export function writeErrand(errand: SkillErrand): string {
  return JSON.stringify(errand);
}

/** @returns undefined for what is no errand. */
export function readErrand(text: string): SkillErrand | undefined {
  return errandOf(fromJson(text));
}

/** @returns undefined for what is no errand. */
export function errandOf(value: unknown): SkillErrand | undefined {
  return errandShape.safeParse(value).data;
}

export function writeAnswer(answer: SkillAnswer): string {
  if ('output' in answer) return JSON.stringify({ output: answer.output });
  const { reason, code, message, errors } = answer.error;
  return JSON.stringify({ error: { reason, code, message, errors } });
}

/** @returns undefined for what is no answer. */
export function readAnswer(text: string): SkillAnswer | undefined {
  const read = answerShape.safeParse(fromJson(text)).data;
  if (read === undefined) return undefined;
  if ('output' in read) return read;
  const { reason, code, message, errors } = read.error;
  const fields: readonly FieldError[] = errors;
  return { error: new AppError(reason, message, { code, errors: fields }) };
}

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
