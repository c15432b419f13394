import type { Message, SystemMessage } from '../messages.js';
import type { ToolDefinition } from '../tools/tool-definition.js';
import { EXPLICIT_FINISH_TEXT, TOOL_PROTOCOL_TEXT } from './context-texts.js';

/** What one request is made of besides the agent's own texts. */
export interface ContextParts {
  readonly history: readonly Message[];
  readonly tools: readonly ToolDefinition[];
  readonly skillIndex: string | null;
  readonly activeSkill: string | null;
  /** For this request only. */
  readonly reminder: string | null;
}

export interface ContextBuilderOptions {
  /** Absent or blank: none is sent. */
  readonly systemPrompt?: string;
  readonly requireExplicitFinish: boolean;
}

const TOOL_PROTOCOL = systemMessage(TOOL_PROTOCOL_TEXT);
const EXPLICIT_FINISH = systemMessage(EXPLICIT_FINISH_TEXT);

/**
 * Puts the messages of a request in order: system prompt, tool protocol, explicit finish, skill index, active skill,
 * history, reminder; each of the agent's own texts is a system message of its own. The same text is the same message
 * object from request to request, so that what was counted or encoded for it once stays known.
 */
export class ContextBuilder {
  readonly #systemPrompt: SystemMessage | null;
  readonly #explicitFinish: SystemMessage | null;
  #index: SystemMessage | null = null;
  #skill: SystemMessage | null = null;
  #reminder: SystemMessage | null = null;

  constructor(options: ContextBuilderOptions) {
    const prompt = options.systemPrompt ?? '';
    this.#systemPrompt = prompt.trim() === '' ? null : systemMessage(prompt);
    this.#explicitFinish = options.requireExplicitFinish ? EXPLICIT_FINISH : null;
  }

  /** A new array of the given messages and the builder's own; nothing is copied but references. */
  build(parts: ContextParts): readonly Message[] {
    this.#index = keep(this.#index, parts.skillIndex);
    this.#skill = keep(this.#skill, parts.activeSkill);
    this.#reminder = keep(this.#reminder, parts.reminder);
    const protocol = parts.tools.length > 0 ? TOOL_PROTOCOL : null;
    const leading: readonly (Message | null)[] = [
      this.#systemPrompt,
      protocol,
      this.#explicitFinish,
      this.#index,
      this.#skill,
    ];
    const messages = leading.filter((message) => message !== null).concat(parts.history);
    if (this.#reminder !== null) messages.push(this.#reminder);
    return messages;
  }
}

function keep(known: SystemMessage | null, text: string | null): SystemMessage | null {
  if (text === null) return null;
  return known?.content === text ? known : systemMessage(text);
}

function systemMessage(content: string): SystemMessage {
  return { role: 'system', content };
}
