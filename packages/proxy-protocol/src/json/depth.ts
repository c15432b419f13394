/** True if arrays and objects of the text, as far as it is JSON, lie within each other more than `max` levels deep. */
export function exceedsDepth(text: string, max: number): boolean {
  // Every level needs two characters, and its opening one: nearly every text is let through without reading it.
  if (text.length < 2 * max) return false;
  return hasMoreOpenings(text, max) && measuredDepth(text, max) > max;
}

function hasMoreOpenings(text: string, max: number): boolean {
  let count = 0;
  for (const opening of ['{', '[']) {
    for (let at = text.indexOf(opening); at !== -1; at = text.indexOf(opening, at + 1)) {
      count += 1;
      if (count > max) return true;
    }
  }
  return false;
}

/** Gives up one level beyond `max`. */
function measuredDepth(text: string, max: number): number {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < text.length && depth <= max; at += 1) {
    const character = text.charCodeAt(at);
    if (inString) {
      if (character === BACKSLASH) at += 1;
      else if (character === QUOTE) inString = false;
    } else if (character === QUOTE) inString = true;
    else if (character === OPEN_BRACE || character === OPEN_BRACKET) depth += 1;
    else if (character === CLOSE_BRACE || character === CLOSE_BRACKET) depth -= 1;
  }
  return depth;
}

const QUOTE = 0x22;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
