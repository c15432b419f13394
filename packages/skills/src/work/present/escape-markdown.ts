/** One line of text that stays text: foreign words cannot begin a cell, a link, a tag or a heading of the report. */
export function escapeMarkdown(text: string): string {
  return text.replace(/\s+/gu, ' ').replace(/[\\`*_[\]<>|#]/gu, '\\$&');
}
