import type { SubagentPromptBlock } from './subagent-types.js';

/** A prompt as one text, for children that take nothing else. */
export function promptText(blocks: readonly SubagentPromptBlock[]): string {
  return blocks.map(blockText).join('\n\n');
}

function blockText(block: SubagentPromptBlock): string {
  return block.type === 'text' ? block.text : `[${block.name}](${block.uri})`;
}
