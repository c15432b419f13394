import { z } from 'zod';
import { invalidParams } from './rpc-failures.js';

const meta = z.record(z.string(), z.unknown()).nullish();
const sessionId = z.string();
/** Items are checked where they are read: what is wrong with one depends on its kind. */
const list = z.array(z.unknown()).nullish();

const opening = { cwd: z.string(), mcpServers: list, additionalDirectories: list, _meta: meta };

const newSession = z.object(opening);
const openSession = z.object({ ...opening, sessionId });
const listSessions = z
  .object({ cwd: z.string().nullish(), cursor: z.string().nullish() })
  .nullish()
  .transform((value) => value ?? {});
const prompt = z.object({ sessionId, prompt: z.array(z.unknown()), _meta: meta });

export type OpeningParams = z.infer<typeof newSession>;
export type OpenSessionParams = z.infer<typeof openSession>;
export type ListParams = z.infer<typeof listSessions>;
export type PromptParams = z.infer<typeof prompt>;

/** One parser for each kind of request. They throw -32602 naming what is wrong. */
export const parsers = {
  authenticate: parserOf(z.object({ methodId: z.string() })),
  newSession: parserOf(newSession),
  openSession: parserOf(openSession),
  listSessions: parserOf(listSessions),
  ofSession: parserOf(z.object({ sessionId })),
  prompt: parserOf(prompt),
  setMode: parserOf(z.object({ sessionId, modeId: z.string() })),
  setConfigOption: parserOf(z.object({ sessionId, configId: z.string(), value: z.unknown() })),
} as const;

function parserOf<T>(schema: z.ZodType<T>): (params: unknown) => T {
  return (params) => {
    const parsed = schema.safeParse(params);
    if (parsed.success) return parsed.data;
    throw invalidParams(...parsed.error.issues.map(({ path, message }) => ({ path: pathText(path), message })));
  };
}

/** `mcpServers[0].command` */
export function pathText(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`;
    return text === '' ? String(key) : `${text}.${String(key)}`;
  }, '');
}
