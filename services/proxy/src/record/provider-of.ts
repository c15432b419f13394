/** How a model's name begins, and whose it then is, as the conventions name providers. */
const FAMILIES: readonly (readonly [RegExp, string])[] = [
  [/^(claude|anthropic[/.])/i, 'anthropic'],
  [/^(gpt-|chatgpt|o[1-9](-|$)|openai\/)/i, 'openai'],
  [/^(gemini|google\/)/i, 'gcp.gemini'],
  [/^(mistral|mixtral|codestral|mistralai\/)/i, 'mistral_ai'],
  [/^deepseek/i, 'deepseek'],
  [/^(grok|x-ai\/)/i, 'x_ai'],
  [/^(command|cohere\/)/i, 'cohere'],
];

/** A driver names its model only; undefined where the name tells no provider. */
export function providerOf(model: string): string | undefined {
  return FAMILIES.find(([pattern]) => pattern.test(model))?.[1];
}
