import fc from 'fast-check';
import { KeyDecoder } from './keys.js';
import { edit, type EditorAction, type EditorState, emptyEditor, withText } from './line-editor.js';
import { graphemes } from './text-width.js';

/** What a line looks like after keys were pressed; `|` is the cursor. */
function typed(
  keys: string,
  from: EditorState = emptyEditor,
): { view: string; actions: EditorAction[]; state: EditorState } {
  const decoder = new KeyDecoder();
  const actions: EditorAction[] = [];
  let state = from;
  for (const key of [...decoder.push(keys), ...decoder.flush()]) {
    const step = edit(state, key);
    state = step.state;
    if (step.action !== undefined) actions.push(step.action);
  }
  return { view: `${state.text.slice(0, state.cursor)}|${state.text.slice(state.cursor)}`, actions, state };
}

const LEFT = '\u001b[D';
const UP = '\u001b[A';
const DOWN = '\u001b[B';
const HOME = '\u0001';

describe('edit', () => {
  it.each([
    ['inserts where the cursor is', `ac${LEFT}b`, 'ab|c'],
    ['removes before the cursor', 'abc\u007f', 'ab|'],
    ['removes at the cursor', `abc${HOME}\u001b[3~`, '|bc'],
    ['takes an emoji of several characters for one', `a👩‍👩‍👧b${LEFT}${LEFT}x`, 'ax|👩‍👩‍👧b'],
    ['removes it as one', 'a👩‍👩‍👧\u007f', 'a|'],
    ['moves by words', 'one two three\u001bb\u001bb', 'one |two three'],
    ['cuts a word', 'one two  \u0017', 'one |'],
    ['cuts to the end and puts it back', `one two${HOME}\u000bx\u0019`, 'xone two|'],
    ['cuts to the beginning', 'one two\u001bb\u0015', '|two'],
    ['Ctrl-D removes at the cursor if there is text', `ab${HOME}\u0004`, '|b'],
    ['Alt-Enter makes a row', 'a\u001b\rb', 'a\nb|'],
    ['a backslash at the end makes a row', 'a\\\rb', 'a\nb|'],
    ['home and end stay in the row', 'ab\ncd\u0001x\u0005y', 'ab\nxcdy|'],
    ['up and down go through rows first', `abc\nde${UP}x${DOWN}y`, 'abxc\ndey|'],
    ['joins rows', `a\nb${HOME}\u007f`, 'a|b'],
    ['a paste of several rows is not sent', '\u001b[200~a\r\nb\rc\u001b[201~', 'a\nb\nc|'],
    ['a paste holds no commands to the terminal', '\u001b[200~a\u001b[2Jb\u0007\u009bc\u001b[201~', 'a[2Jbc|'],
  ])('%s', (_, keys, expected) => {
    const { view, actions } = typed(keys);
    expect(view).toBe(expected);
    expect(actions).toEqual([]);
  });

  it('sends the line', () => {
    expect(typed('hello\r')).toMatchObject({ view: '|', actions: [{ type: 'submit', text: 'hello' }] });
  });

  it.each([
    ['\u0003', 'interrupt'],
    ['\u0004', 'end-of-input'],
    ['\t', 'complete'],
    ['\u001b', 'escape'],
    ['\u000c', 'clear-screen'],
    ['\u001a', 'suspend'],
  ])('%j asks for %s', (keys, type) => {
    expect(typed(keys).actions).toEqual([{ type }]);
  });

  it('goes back through what was sent, and forward to what was being written', () => {
    const { state } = typed('one\rtwo\rtwo\rthr');
    expect(typed(UP, state).view).toBe('two|');
    expect(typed(UP + UP, state).view).toBe('one|');
    expect(typed(UP + UP + UP, state).view).toBe('one|');
    expect(typed(UP + UP + DOWN + DOWN, state).view).toBe('thr|');
  });

  it('takes no more text than fits', () => {
    const full = withText(emptyEditor, 'x'.repeat(199_999));
    expect(typed('abc', full).state.text).toHaveLength(200_000);
  });

  it('keeps the cursor between two characters, whatever is pressed', () => {
    const keys = fc.array(
      fc.constantFrom(
        'a',
        '日',
        '👩‍👩‍👧',
        ' ',
        '\n',
        LEFT,
        '\u001b[C',
        UP,
        DOWN,
        HOME,
        '\u0005',
        '\u007f',
        '\u001b[3~',
        '\u0017',
        '\u000b',
        '\u0019',
        '\u001bb',
        '\u001bf',
        '\r',
      ),
    );
    fc.assert(
      fc.property(keys, (pressed) => {
        const { state } = typed(pressed.join(''));
        const edges = new Set([0]);
        let at = 0;
        for (const grapheme of graphemes(state.text)) edges.add((at += grapheme.length));
        expect(edges.has(state.cursor)).toBe(true);
      }),
    );
  });
});
