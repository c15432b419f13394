import type { ModelAdapter } from './model-adapter.js';
import { OfflineModel } from './offline-model.js';
import { type OpenAiAdapterOptions, readOpenAiConfig } from './openai-config.js';
import { OpenAiModelAdapter } from './openai-model-adapter.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** True if the environment names a model, its key or its server. */
export function isModelConfigured(env: Environment): boolean {
  return ['OPENAI_MODEL', 'OPENAI_API_KEY', 'OPENAI_BASE_URL'].some((name) => (env[name] ?? '').trim() !== '');
}

export interface ModelFromEnvOptions extends OpenAiAdapterOptions {
  /** What stands in when the environment describes no model. Default: an {@link OfflineModel}. */
  readonly offline?: ModelAdapter;
}

/**
 * The model that the environment describes, or the offline one if it describes none. Half a description is an error,
 * so that nobody takes the offline model for the one he meant.
 *
 * @throws ModelConfigError naming the variable.
 */
export function modelFromEnv(env: Environment, options: ModelFromEnvOptions = {}): ModelAdapter {
  if (!isModelConfigured(env)) return options.offline ?? new OfflineModel();
  return new OpenAiModelAdapter(readOpenAiConfig(env), options);
}
