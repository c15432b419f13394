export type { FinishReason, ModelAdapter, ModelRequest, ModelResponse, ModelStreamEvent } from './model-adapter.js';
export {
  ContextOverflowError,
  ModelAuthenticationError,
  ModelConfigError,
  type ModelErrorOptions,
  ModelProviderError,
  ModelRateLimitError,
  ModelTimeoutError,
} from './model-errors.js';
export { isModelConfigured, modelFromEnv, type ModelFromEnvOptions } from './model-from-env.js';
export { OfflineModel } from './offline-model.js';
export {
  DEFAULT_OPENAI_BASE_URL,
  type OpenAiAdapterOptions,
  type OpenAiConfig,
  readOpenAiConfig,
} from './openai-config.js';
export { OpenAiModelAdapter } from './openai-model-adapter.js';
export {
  call,
  say,
  type SayOptions,
  sayWith,
  type ScriptedAnswer,
  type ScriptedEvents,
  ScriptedModel,
  type ScriptedModelOptions,
  type ScriptedStep,
  usageOf,
} from './scripted-model.js';
export { Secret } from './secret.js';
export type { ModelUsage, RunUsage } from './usage.js';
export {
  addUsage,
  emptyRunUsage,
  isUsageComplete,
  type NormalizedUsage,
  normalizeUsage,
  type RawUsage,
} from './usage-accounting.js';
