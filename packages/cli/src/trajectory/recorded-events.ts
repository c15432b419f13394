import type { Json, JsonObject } from '@parley/proxy-protocol';

export interface RecordedToolUse {
  readonly id: string | null;
  readonly name: string;
  readonly input: JsonObject;
}

/** An event of a trajectory, as far as it can be played. */
export type RecordedTurnEvent =
  | {
      readonly kind: 'chat';
      /** Null if it has none. */
      readonly text: string | null;
      readonly thinking: string | null;
      readonly calls: readonly RecordedToolUse[];
      readonly model: string | null;
      readonly usage: JsonObject | null;
    }
  | {
      readonly kind: 'action';
      readonly name: string;
      /** The recorded call that it was; undefined where the proxy does not tell. */
      readonly callId: string | undefined;
      /** Whose tool it was; undefined for a command, and where the proxy does not tell. */
      readonly server: string | undefined;
      readonly input: JsonObject;
      /** The completion as it is on record. */
      readonly completion: JsonObject;
      /** What it gave, for a model. */
      readonly text: string;
    }
  | {
      readonly kind: 'turn';
      readonly prompt: string;
      readonly systemPrompt: string | null;
      readonly completion: JsonObject;
      readonly text: string;
      readonly error: string | null;
    }
  | { readonly kind: 'other' };

/** Reads events of `agentenv-proxy/v1`; what is none of them is `other`. */
export function readRecordedEvents(
  events: readonly JsonObject[],
  parse: (text: string) => Json,
): readonly RecordedTurnEvent[] {
  return events.map((event) => readRecordedEvent(event, parse));
}

function readRecordedEvent(event: JsonObject, parse: (text: string) => Json): RecordedTurnEvent {
  const attributes = objectOf(event['attributes']);
  const prompt = embedded(attributes['gen_ai.prompt'], parse);
  const completion = embedded(attributes['gen_ai.completion'], parse);
  switch (attributes['gen_ai.operation.name']) {
    case 'chat':
      return chatOf(completion, attributes);
    case 'execute_tool':
      return {
        kind: 'action',
        name: textOf(event['name']) ?? '',
        callId: textOf(attributes['gen_ai.tool.call.id']) ?? undefined,
        server: textOf(attributes['parley.proxy.server']) ?? undefined,
        input: objectOf(prompt['input']),
        completion,
        text: actionText(completion),
      };
    case 'chain':
    case 'invoke_agent':
      return {
        kind: 'turn',
        prompt: textOf(prompt['prompt']) ?? '',
        systemPrompt: textOf(prompt['system_prompt']),
        completion,
        text: blocksOf(completion).flatMap(textBlock).join('\n'),
        error: textOf(completion['error']),
      };
    default:
      return { kind: 'other' };
  }
}

function chatOf(completion: JsonObject, attributes: JsonObject): RecordedTurnEvent {
  const blocks = blocksOf(completion);
  const texts = blocks.flatMap(textBlock);
  const thoughts = blocks.flatMap((block) => (block['type'] === 'thinking' ? (textOf(block['thinking']) ?? []) : []));
  const usage = {
    ...member('input_tokens', attributes['gen_ai.usage.input_tokens']),
    ...member('output_tokens', attributes['gen_ai.usage.output_tokens']),
    ...member('cache_read_input_tokens', attributes['gen_ai.usage.cache_read.input_tokens']),
    ...member('cache_creation_input_tokens', attributes['gen_ai.usage.cache_creation.input_tokens']),
  };
  return {
    kind: 'chat',
    text: texts.length === 0 ? null : texts.join('\n'),
    thinking: thoughts.length === 0 ? null : thoughts.join('\n'),
    calls: blocks.flatMap((block) => {
      const name = textOf(block['name']);
      if (block['type'] !== 'tool_use' || name === null) return [];
      return [{ id: textOf(block['id']), name, input: objectOf(block['input']) }];
    }),
    model: textOf(attributes['gen_ai.request.model']),
    usage: Object.keys(usage).length === 0 ? null : usage,
  };
}

function actionText(completion: JsonObject): string {
  const output = textOf(completion['output']) ?? textOf(completion['error']) ?? '';
  const code = completion['exit_code'];
  if (typeof code !== 'number' || code === 0) return output;
  return `${output}${output === '' || output.endsWith('\n') ? '' : '\n'}exit code ${code}`;
}

/** JSON text that an attribute holds. */
function embedded(value: Json | undefined, parse: (text: string) => Json): JsonObject {
  if (typeof value !== 'string') return objectOf(value);
  try {
    return objectOf(parse(value));
  } catch {
    return {};
  }
}

function blocksOf(completion: JsonObject): readonly JsonObject[] {
  const { content } = completion;
  return Array.isArray(content) ? (content as readonly Json[]).map(objectOf) : [];
}

function textBlock(block: JsonObject): readonly string[] {
  return block['type'] === 'text' ? [textOf(block['text']) ?? ''] : [];
}

function objectOf(value: Json | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}

function textOf(value: Json | undefined): string | null {
  return typeof value === 'string' ? value : null;
}

function member(name: string, value: Json | undefined): JsonObject {
  return value === undefined ? {} : { [name]: value };
}
