import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { RequestOptions } from '@modelcontextprotocol/sdk/shared/protocol.js';
import { z } from 'zod';
import type { JsonObject } from '../json.js';
import type { HarnessLogger } from '../logger.js';

/** Bounds against a server whose list never ends. */
export interface ListingBounds {
  readonly maxPages: number;
  readonly maxTools: number;
}

/** A tool as its server describes it. */
export interface ListedTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly readOnlyHint: boolean;
}

const MAX_NAME_CHARS = 1_000;
const MAX_DESCRIPTION_CHARS = 20_000;
const MAX_SCHEMA_CHARS = 256_000;

/** The client library's own schema refuses the whole page if one tool is wrong; tools are looked at one by one here. */
const pageSchema = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().optional() });

const toolSchema = z.looseObject({
  name: z
    .string()
    .min(1, 'is empty')
    .max(MAX_NAME_CHARS, 'is too long')

    .regex(/^[^\u0000-\u001f\u007f]*$/u, 'holds control characters'),
  description: z.string().optional().catch(undefined),
  inputSchema: z
    .looseObject({ type: z.literal('object') }, 'is no schema of an object')
    .refine((schema) => JSON.stringify(schema).length <= MAX_SCHEMA_CHARS, 'is too large'),
  annotations: z
    .looseObject({ readOnlyHint: z.boolean().optional().catch(undefined) })
    .optional()
    .catch(undefined),
});

/** Follows the pages of tools/list. Leaves out, with a warning, what cannot be offered to a model. */
export async function listTools(
  client: Client,
  service: string,
  bounds: ListingBounds,
  logger: HarnessLogger,
  options: RequestOptions,
): Promise<ListedTool[]> {
  const tools = new Map<string, ListedTool>();
  let cursor: string | undefined;
  for (let page = 1; page <= bounds.maxPages; page += 1) {
    const result = await client.request(
      { method: 'tools/list', ...(cursor === undefined ? {} : { params: { cursor } }) },
      pageSchema,
      options,
    );
    for (const raw of result.tools) {
      if (tools.size >= bounds.maxTools) return cut(tools, service, bounds, logger);
      addTool(tools, raw, service, logger);
    }
    if (result.nextCursor === undefined || result.nextCursor === '') return [...tools.values()];
    if (result.nextCursor === cursor) break;
    cursor = result.nextCursor;
  }
  return cut(tools, service, bounds, logger);
}

function cut(
  tools: ReadonlyMap<string, ListedTool>,
  service: string,
  bounds: ListingBounds,
  logger: HarnessLogger,
): ListedTool[] {
  logger.warn('the list of tools of an MCP server does not end; the rest is left out', {
    service,
    tools: tools.size,
    maxPages: bounds.maxPages,
    maxTools: bounds.maxTools,
  });
  return [...tools.values()];
}

function addTool(tools: Map<string, ListedTool>, raw: unknown, service: string, logger: HarnessLogger): void {
  const parsed = toolSchema.safeParse(raw);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const reason = issue === undefined ? 'invalid' : `${issue.path.map(String).join('.')}: ${issue.message}`;
    logger.warn('a tool of an MCP server is left out', { service, tool: printableName(raw), reason });
    return;
  }
  const { name, description, inputSchema, annotations } = parsed.data;
  if (tools.has(name)) {
    logger.warn('a tool of an MCP server is left out', { service, tool: name, reason: 'name: is there twice' });
    return;
  }
  tools.set(name, {
    name,
    description: (description ?? '').slice(0, MAX_DESCRIPTION_CHARS),
    // It came out of JSON.parse, so it holds nothing else.
    inputSchema: inputSchema as JsonObject,
    readOnlyHint: annotations?.readOnlyHint === true,
  });
}

function printableName(raw: unknown): string {
  const name = typeof raw === 'object' && raw !== null && 'name' in raw ? raw.name : undefined;
  return typeof name === 'string' ? JSON.stringify(name.slice(0, 100)) : '(none)';
}
