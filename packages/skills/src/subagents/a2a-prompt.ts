import type { TaskPart } from '@parley/agent';
import type { SubagentPromptBlock } from '@parley/harness';

/** A prompt as the parts of a message. */
export function partsOfPrompt(prompt: readonly SubagentPromptBlock[]): TaskPart[] {
  return prompt.map((block) => {
    if (block.type === 'text') return { kind: 'text', text: block.text };
    const { uri: url, name, mimeType } = block;
    return { kind: 'url', url, name, ...(mimeType === undefined ? {} : { mediaType: mimeType }) };
  });
}
