import { z } from 'zod';
import { isJsonObject, type Json, type JsonObject, numberOf } from '../json/index.js';
import { ProxyMisread } from './client-errors.js';
import type {
  ActionState,
  ConfiguredServer,
  ProxyAction,
  ProxyActionResult,
  ProxyTool,
  ProxyTurns,
  TrajectoryPage,
} from './wire-types.js';

/** A number as it is, or one that was kept as it was written. */
const number = z.preprocess(numberOf, z.number());
const json = z.custom<Json>((value) => value !== undefined);
const object = z.custom<JsonObject>(isJsonObject);

const action: z.ZodType<ProxyAction> = z.union([
  z
    .object({ kind: z.literal('bash'), command: z.string(), timeout_seconds: number.nullish() })
    .transform((one): ProxyAction => ({ kind: 'bash', command: one.command, ...timeout(one.timeout_seconds) })),
  z
    .object({
      kind: z.literal('tool'),
      server: z.string(),
      name: z.string(),
      arguments: object.nullish(),
      timeout_seconds: number.nullish(),
    })
    .transform((one): ProxyAction => ({
      kind: 'tool',
      server: one.server,
      name: one.name,
      arguments: one.arguments ?? {},
      ...timeout(one.timeout_seconds),
    })),
]);

const turn = z
  .object({
    task_id: z.string(),
    context_id: z.string(),
    parts: z.array(z.object({ text: z.string() })),
    system_prompt: z.string().nullish(),
    skills: z.array(z.object({ name: z.string(), description: z.string(), path: z.string() })).nullish(),
    pending_calls: z
      .array(z.object({ id: z.string().nullish(), name: z.string(), arguments: object.nullish() }))
      .nullish(),
    actions: z.array(z.object({ action_id: z.string(), done: z.boolean(), action })).nullish(),
  })
  .transform((one) => ({
    taskId: one.task_id,
    contextId: one.context_id,
    texts: one.parts.map(({ text }) => text),
    systemPrompt: one.system_prompt ?? null,
    skills: one.skills ?? [],
    pendingCalls: (one.pending_calls ?? []).map(({ id, name, arguments: values }) => ({
      id: id ?? null,
      name,
      arguments: values ?? {},
    })),
    actions: (one.actions ?? []).map((known) => ({
      actionId: known.action_id,
      done: known.done,
      action: known.action,
    })),
  }));

const turns: z.ZodType<ProxyTurns> = z.object({ version: number, turns: z.array(turn) });

const tools: z.ZodType<readonly ProxyTool[]> = z
  .object({
    tools: z.array(
      z
        .object({
          name: z.string(),
          description: z.string().nullish(),
          input_schema: object.nullish(),
          server: z.string().nullish(),
        })
        .transform((one) => ({
          name: one.name,
          ...given('description', one.description),
          ...given('inputSchema', one.input_schema),
          ...given('server', one.server),
        })),
    ),
  })
  .transform(({ tools: all }) => all);

const result: z.ZodType<ProxyActionResult> = z.union([
  z
    .object({
      kind: z.literal('bash'),
      exit_code: number.nullish(),
      stdout: z.string(),
      stderr: z.string(),
      timed_out: z.boolean(),
      truncated: z.boolean().nullish(),
    })
    .transform((one) => ({
      kind: one.kind,
      ...given('exitCode', one.exit_code),
      stdout: one.stdout,
      stderr: one.stderr,
      timedOut: one.timed_out,
      truncated: one.truncated ?? false,
    })),
  z
    .object({ kind: z.literal('tool'), content: z.array(json), is_error: z.boolean() })
    .transform((one) => ({ kind: one.kind, content: one.content, isError: one.is_error })),
]);

const actionState: z.ZodType<ActionState> = z.union([
  z.object({ done: z.literal(true), result }),
  z
    .object({
      done: z.literal(false),
      output: z.object({ stdout: z.string(), stderr: z.string(), next: number }).nullish(),
    })
    .transform((one): ActionState => ({ done: one.done, ...given('output', one.output) })),
]);

const page: z.ZodType<TrajectoryPage> = z
  .object({
    context_id: z.string(),
    task_id: z.string(),
    state: z.string(),
    format: z.string().nullish(),
    events: z.array(object),
    next: number,
    has_more: z.boolean(),
  })
  .transform((one) => ({
    contextId: one.context_id,
    taskId: one.task_id,
    state: one.state,
    format: one.format ?? null,
    events: one.events,
    next: one.next,
    hasMore: one.has_more,
  }));

const servers: z.ZodType<readonly ConfiguredServer[]> = z
  .object({ mcp_servers: z.record(z.string(), z.object({ url: z.string(), has_headers: z.boolean() })) })
  .transform(({ mcp_servers: all }) =>
    Object.entries(all).map(([name, one]) => ({ name, url: one.url, hasHeaders: one.has_headers })),
  );

/** Reads answers; members that are not known are left out. Each throws ProxyMisread for another answer. */
export const readTurns = reader('next', turns);
export const readTools = reader('tools', tools);
export const readActionState = reader('act and result', actionState);
export const readPage = reader('a page of a trajectory', page);
export const readTrajectory = reader(
  'a trajectory',
  z.object({ trajectory: z.array(object) }).transform(({ trajectory }): readonly JsonObject[] => trajectory),
);
export const readConfig = reader(
  'agent-config',
  z.object({ config: object }).transform(({ config }) => config),
);
export const readServers = reader('mcp-config', servers);
export const readAddedServer = reader('mcp-config', z.object({ name: z.string(), url: z.string() }));
export const readAddedSkill = reader('skill-config', z.object({ name: z.string() }));
export const readSkills = reader(
  'skill-config',
  z
    .object({ skills: z.record(z.string(), z.object({ description: z.string() })) })
    .transform(({ skills }) => Object.entries(skills).map(([name, { description }]) => ({ name, description }))),
);
export const readObject = reader('this call', object);

function reader<T>(what: string, schema: z.ZodType<T>): (value: unknown) => T {
  return (value) => {
    const parsed = schema.safeParse(value);
    if (parsed.success) return parsed.data;
    const at = parsed.error.issues[0]?.path.join('.') ?? '';
    throw new ProxyMisread(`not how a proxy answers ${what}${at === '' ? '' : ` (at ${at})`}`);
  };
}

function timeout(seconds: number | null | undefined): { timeoutSeconds?: number } {
  return given('timeoutSeconds', seconds);
}

/** A member that is left out where it is null or missing. */
function given<N extends string, T>(name: N, value: T | null | undefined): Partial<Record<N, T>> {
  return value === null || value === undefined ? {} : ({ [name]: value } as Record<N, T>);
}
