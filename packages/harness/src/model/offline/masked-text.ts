/** Text whose quotations and fenced blocks are out of the way, so that it can be cut without cutting into them. */
export interface MaskedText {
  /** Each quotation is a mark of one private character, its number and another private character. */
  readonly text: string;
  readonly quotations: readonly string[];
}

const OPEN = '\uE000';
const CLOSE = '\uE001';
const MARK = /\uE000(\d+)\uE001/gu;

const CLOSER_OF: Readonly<Partial<Record<string, string>>> = {
  '```': '```',
  '`': '`',
  '"': '"',
  '“': '”',
  '«': '»',
  "'": "'",
};

/** Takes time in proportion to the text, whatever is in it. */
export function mask(text: string): MaskedText {
  const quotations: string[] = [];
  const unpaired = new Set<string>();
  const parts: string[] = [];
  const opener = /```|[`"“«']/gu;
  let from = 0;
  for (let found = opener.exec(text); found !== null; found = opener.exec(text)) {
    const [mark] = found;
    const end = unpaired.has(mark) ? undefined : endOf(text, mark, found.index);
    if (end === 'never') unpaired.add(mark);
    if (typeof end !== 'number') continue;
    parts.push(withoutMarks(text.slice(from, found.index)), `${OPEN}${quotations.length}${CLOSE}`);
    quotations.push(quoted(mark, text.slice(found.index + mark.length, end)));
    from = end + (CLOSER_OF[mark] ?? '').length;
    opener.lastIndex = from;
  }
  parts.push(withoutMarks(text.slice(from)));
  return { text: parts.join(''), quotations };
}

/** Where the quotation ends that begins at `start`; undefined: it is none; `never`: no later one of its kind is. */
function endOf(text: string, mark: string, start: number): number | 'never' | undefined {
  if (mark === "'") return endOfSingle(text, start);
  const end = text.indexOf(CLOSER_OF[mark] ?? mark, start + mark.length);
  if (end === -1) return 'never';
  return mark === '`' && text.slice(start, end).includes('\n') ? undefined : end;
}

/** How far a single quotation may reach: its mark is an apostrophe more often than not. */
const MAX_SINGLE = 500;

function endOfSingle(text: string, start: number): number | undefined {
  if (!/[\s(:=]/u.test(text[start - 1] ?? ' ')) return undefined;
  const match = /^[^\n]*?'(?=$|[\s).,;:!?])/u.exec(text.slice(start + 1, start + 1 + MAX_SINGLE));
  return match === null ? undefined : start + match[0].length;
}

// The first line of a fenced block names its language.
function quoted(mark: string, inside: string): string {
  return mark === '```' ? inside.replace(/^[^\n]*\n/u, '').replace(/\n$/u, '') : inside;
}

function withoutMarks(text: string): string {
  return text.replaceAll(OPEN, ' ').replaceAll(CLOSE, ' ');
}

/** The text as it was, without the quotation marks. */
export function unmask({ text, quotations }: MaskedText): string {
  return text.replace(MARK, (_mark, index: string) => quotations[Number(index)] ?? '');
}

/** The quotations that a part of the text holds, in its order. */
export function quotationsIn({ text, quotations }: MaskedText): readonly string[] {
  return Array.from(text.matchAll(MARK), ([, index]) => quotations[Number(index)] ?? '');
}

/** The text without its quotations. */
export function withoutQuotations({ text }: MaskedText): string {
  return text.replace(MARK, ' ');
}
