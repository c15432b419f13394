import { z } from 'zod';

export const PERMISSION_KINDS = ['allow_once', 'allow_always', 'reject_once', 'reject_always'] as const;
export type PermissionKind = (typeof PERMISSION_KINDS)[number];

export interface PermissionOption {
  readonly id: string;
  readonly name: string;
  /** Undefined for a kind that the protocol did not know when this was written: no policy chooses it. */
  readonly kind: PermissionKind | undefined;
}

/** What a child asks before it does something. All of it is the child's own word. */
export interface PermissionQuestion {
  readonly sessionId: string;
  readonly callId: string;
  /** For people. */
  readonly title: string;
  /** The name of the tool, where the child gives it. */
  readonly tool: string | undefined;
  /** read, edit, delete, execute, …, where the child gives it. */
  readonly toolKind: string | undefined;
  readonly rawInput: unknown;
  readonly options: readonly PermissionOption[];
}

const text = z.string().nullish().catch(undefined);

const optionSchema = z.object({
  optionId: z.string(),
  name: z.string().catch(''),
  kind: z.enum(PERMISSION_KINDS).optional().catch(undefined),
});

const requestSchema = z.object({
  sessionId: z.string(),
  toolCall: z.object({ toolCallId: z.string(), title: text, name: text, kind: text, rawInput: z.unknown().optional() }),
  options: z.array(optionSchema),
});

/**
 * Reads `session/request_permission`. It is less strict than the schema of the protocol: a request with one option of a
 * new kind is still one that can be refused.
 */
export function parsePermissionQuestion(params: unknown): PermissionQuestion {
  const { sessionId, toolCall, options } = requestSchema.parse(params);
  return {
    sessionId,
    callId: toolCall.toolCallId,
    title: toolCall.title ?? toolCall.name ?? toolCall.toolCallId,
    tool: toolCall.name ?? undefined,
    toolKind: toolCall.kind ?? undefined,
    rawInput: toolCall.rawInput,
    options: options.map(({ optionId, name, kind }) => ({ id: optionId, name, kind })),
  };
}
