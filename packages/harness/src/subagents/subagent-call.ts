import { z } from 'zod';
import type { JsonObject } from '../json.js';

const callSchema = z.object({
  task: z.string().trim().min(1),
  provider: z.string().optional(),
  label: z.string().max(200).optional(),
  persona: z.string().optional(),
  context: z.enum(['fresh', 'fork']).optional(),
  tools: z.array(z.string()).optional(),
  output_schema: z.record(z.string(), z.unknown()).optional(),
  max_turns: z.number().int().min(1).optional(),
});

/** What a model asks for. */
export interface SubagentCall {
  readonly task: string;
  readonly provider?: string;
  readonly label?: string;
  readonly persona?: string;
  readonly context?: 'fresh' | 'fork';
  readonly tools?: readonly string[];
  readonly outputSchema?: JsonObject;
  readonly maxTurns?: number;
}

/** The arguments of the tool, or a text that says what is wrong with them, without their values. */
export function parseSubagentCall(args: JsonObject): SubagentCall | string {
  const parsed = callSchema.safeParse(args);
  if (!parsed.success) {
    const fields = parsed.error.issues.map((issue) => issue.path.map(String).join('.'));
    return `invalid arguments: ${[...new Set(fields)].join(', ')}`;
  }
  const { output_schema: outputSchema, max_turns: maxTurns, ...rest } = parsed.data;
  const given = Object.entries(rest).filter(([, value]) => value !== undefined);
  return {
    ...(Object.fromEntries(given) as unknown as SubagentCall),
    // It was parsed from JSON.
    ...(outputSchema === undefined ? {} : { outputSchema: outputSchema as JsonObject }),
    ...(maxTurns === undefined ? {} : { maxTurns }),
  };
}

/** The schema that models see. */
export function subagentParameters(providers: readonly string[]): JsonObject {
  const text = (description: string): JsonObject => ({ type: 'string', description });
  return {
    type: 'object',
    properties: {
      task: { ...text('What the subagent has to do, complete in itself.'), minLength: 1 },
      provider: { ...text('Which kind of subagent; default the first.'), enum: providers },
      label: { ...text('A few words that name the work, for people who watch.'), maxLength: 200 },
      persona: text('Who the subagent is, such as "a careful reviewer".'),
      context: {
        ...text('fresh: it knows the task only. fork: it begins with this conversation.'),
        enum: ['fresh', 'fork'],
      },
      tools: { type: 'array', items: { type: 'string' }, description: 'Names of the only tools that it may use.' },
      output_schema: { type: 'object', description: 'A JSON Schema that its result has to fit.' },
      max_turns: { type: 'integer', minimum: 1, description: 'Requests to a model at most.' },
    },
    required: ['task'],
    additionalProperties: false,
  };
}
