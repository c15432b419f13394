import { inspect } from 'node:util';
import { modelFromEnv } from './model-from-env.js';
import { ModelConfigError } from './model-errors.js';
import { OfflineModel } from './offline-model.js';
import { type OpenAiConfig, readOpenAiConfig } from './openai-config.js';
import { OpenAiModelAdapter } from './openai-model-adapter.js';
import { Secret } from './secret.js';

const KEY = 'sk-hush-hush-hush';
const env = { OPENAI_MODEL: 'm', OPENAI_API_KEY: KEY };
const thrownBy = (work: () => unknown): unknown => {
  try {
    return work();
  } catch (error) {
    return error;
  }
};

describe('readOpenAiConfig', () => {
  it('reads everything', () => {
    const config = readOpenAiConfig({
      ...env,
      OPENAI_BASE_URL: ' http://localhost:1/v1 ',
      OPENAI_TIMEOUT_MS: '5000',
      OPENAI_TEMPERATURE: '0.5',
      OPENAI_INCLUDE_USAGE: 'false',
      OPENAI_SEND_REASONING: 'TRUE',
    });
    expect(config).toEqual({
      model: 'm',
      apiKey: expect.any(Secret),
      baseUrl: 'http://localhost:1/v1',
      timeoutMs: 5_000,
      temperature: 0.5,
      includeUsage: false,
      sendReasoning: true,
    });
    expect((config.apiKey as Secret).reveal()).toBe(KEY);
  });

  it('takes blank variables for unset ones', () => {
    expect(Object.keys(readOpenAiConfig({ ...env, OPENAI_BASE_URL: ' ', OPENAI_TEMPERATURE: '' }))).toEqual([
      'model',
      'apiKey',
      'includeUsage',
      'sendReasoning',
    ]);
  });

  it.each([
    ['OPENAI_MODEL', ''],
    ['OPENAI_API_KEY', undefined],
    ['OPENAI_BASE_URL', 'localhost'],
    ['OPENAI_BASE_URL', 'ftp://host/'],
    ['OPENAI_BASE_URL', `http://user:${KEY}@host/`],
    ['OPENAI_TIMEOUT_MS', '0'],
    ['OPENAI_TIMEOUT_MS', '1e99'],
    ['OPENAI_TIMEOUT_MS', 'soon'],
    ['OPENAI_TEMPERATURE', 'warm'],
    ['OPENAI_TEMPERATURE', '3'],
    ['OPENAI_INCLUDE_USAGE', 'yes'],
    ['OPENAI_SEND_REASONING', '1'],
  ])('names %s when it is %p', (name, value) => {
    const error = thrownBy(() => readOpenAiConfig({ ...env, [name]: value }));
    expect(error).toBeInstanceOf(ModelConfigError);
    expect(error).toMatchObject({
      setting: name,
      code: 'model_config_invalid',
      message: expect.stringContaining(name),
    });
    expect(inspect(error)).not.toContain(KEY);
  });
});

describe('the config of an adapter', () => {
  it.each([
    ['model', { model: ' ' }],
    ['apiKey', { apiKey: '' }],
    ['baseUrl', { baseUrl: 'nowhere' }],
    ['timeoutMs', { timeoutMs: 0.5 }],
    ['idleTimeoutMs', { idleTimeoutMs: 2 ** 31 }],
    ['maxRetries', { maxRetries: -1 }],
    ['maxRetryAfterMs', { maxRetryAfterMs: Number.NaN }],
    ['maxResponseBytes', { maxResponseBytes: 0 }],
    ['temperature', { temperature: Number.NaN }],
  ] as const)('is refused for its %s', (setting, wrong: Partial<OpenAiConfig>) => {
    const error = thrownBy(() => new OpenAiModelAdapter({ model: 'm', apiKey: KEY, ...wrong }));
    expect(error).toBeInstanceOf(ModelConfigError);
    expect(error).toMatchObject({ setting });
  });

  it('does not show the key, wherever it is dumped', async () => {
    const config = readOpenAiConfig(env);
    const adapter = new OpenAiModelAdapter({ ...config, headers: { 'x-token': `${KEY}-too` } });
    await adapter.start();
    for (const value of [config, { ...config }, adapter]) {
      expect(inspect(value, { depth: 20, showHidden: true })).not.toContain('hush');
      expect(JSON.stringify(value)).not.toContain('hush');
    }
  });
});

describe('modelFromEnv', () => {
  it('is offline if nothing is configured', () => {
    expect(modelFromEnv({ PATH: '/bin', OPENAI_API_KEY: ' ' })).toBeInstanceOf(OfflineModel);
  });

  it('takes the stand-in that it is given only if nothing is configured', () => {
    const offline = new OfflineModel();
    expect(modelFromEnv({}, { offline })).toBe(offline);
    expect(modelFromEnv(env, { offline })).toBeInstanceOf(OpenAiModelAdapter);
  });

  it('is the model that is configured', () => {
    expect(modelFromEnv(env)).toMatchObject({ name: 'm' });
  });

  it.each([[{ OPENAI_MODEL: 'm' }], [{ OPENAI_API_KEY: KEY }], [{ OPENAI_BASE_URL: 'http://localhost/' }]])(
    'refuses half a configuration',
    (half) => {
      expect(() => modelFromEnv(half)).toThrow(ModelConfigError);
    },
  );
});
