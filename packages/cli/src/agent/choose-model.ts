import {
  type ModelAdapter,
  ModelConfigError,
  OfflineModel,
  OpenAiModelAdapter,
  readOpenAiConfig,
} from '@parley/harness';
import type { ModelSettings } from '../run-settings.js';
import { UsageError } from '../usage-error.js';

export interface ChosenModel {
  /** A new adapter: each agent starts and stops its own. */
  readonly make: () => ModelAdapter;
  readonly name: string;
  /** Why no model is behind it; undefined if one is. */
  readonly offlineBecause: string | undefined;
}

/**
 * The model of the options and the environment; without a key the offline one.
 *
 * @throws UsageError for a configuration that cannot be.
 */
export function chooseModel(settings: ModelSettings, env: Readonly<Record<string, string | undefined>>): ChosenModel {
  if (settings.isOffline) return offline('--offline');
  const hasKey = (env['OPENAI_API_KEY'] ?? '').trim() !== '';
  if (!hasKey) {
    if (settings.model === undefined && settings.baseUrl === undefined) return offline('OPENAI_API_KEY is not set');
    throw new UsageError('--model and --base-url need OPENAI_API_KEY (any text, if the server wants no key)');
  }
  try {
    const config = readOpenAiConfig({
      ...env,
      OPENAI_MODEL: settings.model ?? env['OPENAI_MODEL'],
      OPENAI_BASE_URL: settings.baseUrl ?? env['OPENAI_BASE_URL'],
    });
    // Made once here, so that a bad configuration is told before anything begins.
    const { name } = new OpenAiModelAdapter(config);
    return { make: () => new OpenAiModelAdapter(config), name, offlineBecause: undefined };
  } catch (error) {
    if (!(error instanceof ModelConfigError)) throw error;
    throw new UsageError(`${error.message} (or use --offline)`, { cause: error });
  }
}

function offline(offlineBecause: string): ChosenModel {
  return { make: () => new OfflineModel(), name: new OfflineModel().name, offlineBecause };
}
