import type { JsonObject } from '../json.js';
import type { HarnessLogger } from '../logger.js';
import { ModelConfigError } from './model-errors.js';
import { Secret } from './secret.js';

/** How to reach a model that speaks the chat-completions protocol, and how to speak to it. */
export interface OpenAiConfig {
  /** The model's name as the server knows it. */
  readonly model: string;
  readonly apiKey: string | Secret;
  /** Without `/chat/completions`. Default `https://api.openai.com/v1`. */
  readonly baseUrl?: string;
  /** Time until the server has begun to answer, for each attempt, in milliseconds. Default 120,000. */
  readonly timeoutMs?: number;
  /** The longest silence inside an answer, in milliseconds. Default 120,000. */
  readonly idleTimeoutMs?: number;
  /** How often a request is sent again that failed before it showed anything. Default 2; 0 switches it off. */
  readonly maxRetries?: number;
  /** The longest wait that a server may ask for, in milliseconds; one that asks for more fails. Default 60,000. */
  readonly maxRetryAfterMs?: number;
  /** Absent: the server's default. */
  readonly temperature?: number;
  /** Asks for token counts at the end of the stream. Default true; false for servers that refuse the question. */
  readonly includeUsage?: boolean;
  /** Sends reasoning of earlier turns back as `reasoning_content`, for models that want it. Default false. */
  readonly sendReasoning?: boolean;
  /** What else tells that a request did not fit into the window; tested on the server's text. */
  readonly overflowPatterns?: readonly RegExp[];
  /** Sent with every request. Their values are hidden in errors like the key. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Further fields of the request's body, such as `max_tokens` or `reasoning_effort`. */
  readonly extraBody?: JsonObject;
  /** The largest answer read, in bytes, framing included. Default 32 MiB. */
  readonly maxResponseBytes?: number;
}

/** What an adapter uses of its surroundings. */
export interface OpenAiAdapterOptions {
  readonly logger?: HarnessLogger;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  /** From 0 up to 1. */
  readonly random?: () => number;
  /** Resolves after so many milliseconds, rejects when the signal is aborted. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Makes an id for a call that came without one. */
  readonly newId?: () => string;
  /** Node's own gives up on a silent server after 300 s; pass one with another dispatcher for longer waits. */
  readonly fetch?: typeof fetch;
}

/** A config with every default in place. */
export type ResolvedOpenAiConfig = Required<Omit<OpenAiConfig, 'temperature' | 'apiKey'>> & {
  readonly apiKey: Secret;
  readonly temperature: number | undefined;
};

export const DEFAULT_OPENAI_BASE_URL = 'https://api.openai.com/v1';

/** @throws ModelConfigError naming the field that cannot be. */
export function resolveOpenAiConfig(config: OpenAiConfig): ResolvedOpenAiConfig {
  const apiKey = config.apiKey instanceof Secret ? config.apiKey : new Secret(config.apiKey);
  const resolved: ResolvedOpenAiConfig = {
    model: config.model.trim(),
    apiKey,
    baseUrl: config.baseUrl ?? DEFAULT_OPENAI_BASE_URL,
    timeoutMs: config.timeoutMs ?? 120_000,
    idleTimeoutMs: config.idleTimeoutMs ?? 120_000,
    maxRetries: config.maxRetries ?? 2,
    maxRetryAfterMs: config.maxRetryAfterMs ?? 60_000,
    temperature: config.temperature,
    includeUsage: config.includeUsage ?? true,
    sendReasoning: config.sendReasoning ?? false,
    overflowPatterns: config.overflowPatterns ?? [],
    headers: config.headers ?? {},
    extraBody: config.extraBody ?? {},
    maxResponseBytes: config.maxResponseBytes ?? 32 * 1024 * 1024,
  };
  checkConfig(resolved);
  return resolved;
}

// setTimeout takes no longer waits: it would fire at once.
const MAX_TIMER_MS = 2 ** 31 - 1;

function checkConfig(config: ResolvedOpenAiConfig): void {
  if (config.model === '') throw new ModelConfigError('model', 'must not be empty');
  if (config.apiKey.reveal().trim() === '') throw new ModelConfigError('apiKey', 'must not be empty');
  checkBaseUrl('baseUrl', config.baseUrl);
  for (const name of ['timeoutMs', 'idleTimeoutMs'] as const) checkWhole(name, config[name], 1, MAX_TIMER_MS);
  checkWhole('maxRetryAfterMs', config.maxRetryAfterMs, 0, MAX_TIMER_MS);
  checkWhole('maxRetries', config.maxRetries, 0, 100);
  checkWhole('maxResponseBytes', config.maxResponseBytes, 1, Number.MAX_SAFE_INTEGER);
  if (config.temperature !== undefined) checkTemperature('temperature', config.temperature);
}

function checkWhole(setting: string, value: number, min: number, max: number): void {
  if (Number.isInteger(value) && value >= min && value <= max) return;
  throw new ModelConfigError(setting, `must be a whole number from ${min} to ${max}`);
}

function checkTemperature(setting: string, value: number): void {
  if (value >= 0 && value <= 2) return;
  throw new ModelConfigError(setting, 'must be a number from 0 to 2');
}

function checkBaseUrl(setting: string, value: string): void {
  const url = URL.parse(value);
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw new ModelConfigError(setting, 'must be an http or https address');
  }
  // fetch refuses them, and says so with the whole address.
  if (url.username !== '' || url.password !== '') throw new ModelConfigError(setting, 'must not hold credentials');
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads `OPENAI_MODEL` and `OPENAI_API_KEY` (both needed), `OPENAI_BASE_URL`, `OPENAI_TIMEOUT_MS`,
 * `OPENAI_TEMPERATURE`, `OPENAI_INCLUDE_USAGE` and `OPENAI_SEND_REASONING` (`true` or `false`). A blank variable
 * counts as not set. A local server that wants no key still needs some text as one.
 *
 * @throws ModelConfigError naming the variable.
 */
export function readOpenAiConfig(env: Environment): OpenAiConfig {
  const read = (name: string): string | undefined => {
    const value = env[name]?.trim();
    return value === '' ? undefined : value;
  };
  const config: { -readonly [K in keyof OpenAiConfig]: OpenAiConfig[K] } = {
    model: needed('OPENAI_MODEL', read('OPENAI_MODEL')),
    apiKey: new Secret(needed('OPENAI_API_KEY', read('OPENAI_API_KEY'))),
    includeUsage: flag('OPENAI_INCLUDE_USAGE', read('OPENAI_INCLUDE_USAGE'), true),
    sendReasoning: flag('OPENAI_SEND_REASONING', read('OPENAI_SEND_REASONING'), false),
  };
  const baseUrl = read('OPENAI_BASE_URL');
  if (baseUrl !== undefined) {
    checkBaseUrl('OPENAI_BASE_URL', baseUrl);
    config.baseUrl = baseUrl;
  }
  const timeoutMs = read('OPENAI_TIMEOUT_MS');
  if (timeoutMs !== undefined) {
    config.timeoutMs = Number(timeoutMs);
    checkWhole('OPENAI_TIMEOUT_MS', config.timeoutMs, 1, MAX_TIMER_MS);
  }
  const temperature = read('OPENAI_TEMPERATURE');
  if (temperature !== undefined) {
    config.temperature = Number(temperature);
    checkTemperature('OPENAI_TEMPERATURE', config.temperature);
  }
  return config;
}

function needed(setting: string, value: string | undefined): string {
  if (value === undefined) throw new ModelConfigError(setting, 'must be set');
  return value;
}

function flag(setting: string, value: string | undefined, fallback: boolean): boolean {
  if (value === undefined) return fallback;
  if (/^true$/iu.test(value)) return true;
  if (/^false$/iu.test(value)) return false;
  throw new ModelConfigError(setting, 'must be true or false');
}
