/** One thing that a message asks for in so many words. */
export type TurnStep =
  | { readonly kind: 'command'; readonly command: string }
  | { readonly kind: 'tool'; readonly name: string; readonly arguments: string }
  /** A line that means a tool, but whose arguments are no JSON object. */
  | { readonly kind: 'unreadable'; readonly line: string };

const SHELLS = new Set(['bash', 'sh', 'shell']);
const FENCE = /^\s*(`{3,}|~{3,})\s*(\S*)\s*$/u;
const COMMAND_LINE = /^\s*\$ (.*\S)\s*$/u;
const TOOL_LINE = /^\s*tool\s+([^\s{]+)\s*(\{.*)?$/u;

/** Reads fenced shell blocks, lines that begin with `$ `, and lines such as `tool add {"a": 1}`, in their order. */
export function readTurnSteps(text: string): readonly TurnStep[] {
  const steps: TurnStep[] = [];
  const lines = text.split(/\r?\n/u);
  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index] ?? '';
    const fence = FENCE.exec(line);
    if (fence === null) {
      const step = readLine(line);
      if (step !== undefined) steps.push(step);
      continue;
    }
    const [, mark = '', language = ''] = fence;
    const end = endOfBlock(lines, index + 1, mark);
    const block = lines
      .slice(index + 1, end)
      .join('\n')
      .trim();
    if (SHELLS.has(language.toLowerCase()) && block !== '') steps.push({ kind: 'command', command: block });
    index = end;
  }
  return steps;
}

function readLine(line: string): TurnStep | undefined {
  const command = COMMAND_LINE.exec(line)?.[1];
  if (command !== undefined) return { kind: 'command', command };
  const tool = TOOL_LINE.exec(line);
  if (tool === null) return undefined;
  const [, name = '', written = '{}'] = tool;
  return isObject(written)
    ? { kind: 'tool', name, arguments: written.trim() }
    : { kind: 'unreadable', line: line.trim() };
}

/** A block that is not closed ends with the text. */
function endOfBlock(lines: readonly string[], from: number, mark: string): number {
  for (let index = from; index < lines.length; index += 1) {
    const line = (lines[index] ?? '').trim();
    if (line.startsWith(mark) && /^(?:`+|~+)$/u.test(line)) return index;
  }
  return lines.length;
}

function isObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
