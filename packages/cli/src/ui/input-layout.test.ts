import { layOutInput } from './input-layout.js';
import { emptyEditor, withText } from './line-editor.js';

function layOut(text: string, cursor = text.length, width = 10, maxRows = 5) {
  return layOutInput({ ...withText(emptyEditor, text), cursor }, '> ', width, maxRows);
}

describe('layOutInput', () => {
  it('puts the cursor after what was written', () => {
    expect(layOut('abc')).toEqual({ rows: ['> abc'], cursorRow: 0, cursorColumn: 5 });
  });

  it('breaks a row that is full, and puts the cursor into the next one', () => {
    expect(layOut('abcdefgh')).toEqual({ rows: ['> abcdefgh', '  '], cursorRow: 1, cursorColumn: 2 });
    expect(layOut('abcdefghij', 9)).toEqual({ rows: ['> abcdefgh', '  ij'], cursorRow: 1, cursorColumn: 3 });
  });

  it('counts wide characters as two columns', () => {
    expect(layOut('日本')).toMatchObject({ cursorColumn: 6 });
  });

  it('shows the rows of a line of several', () => {
    expect(layOut('a\n\nb', 2)).toEqual({ rows: ['> a', '  ', '  b'], cursorRow: 1, cursorColumn: 2 });
    expect(layOut('\na', 0)).toEqual({ rows: ['> ', '  a'], cursorRow: 0, cursorColumn: 2 });
  });

  it('shows the rows around the cursor of a long line', () => {
    const text = Array.from({ length: 100 }, (_, at) => `row${at}`).join('\n');
    const end = layOut(text);
    expect(end.rows).toEqual(['  row95', '  row96', '  row97', '  row98', '  row99']);
    expect(end.cursorRow).toBe(4);
    expect(layOut(text, 0).rows[0]).toBe('> row0');
    const middle = layOut(text, text.indexOf('row50'));
    expect(middle.rows[middle.cursorRow]).toBe('  row50');
  });

  it('shows control characters and tabs in a form that moves nothing', () => {
    expect(layOut('a\tb').rows).toEqual(['> a    b']);
    expect(layOut('\u001b').rows).toEqual(['> ␛']);
  });

  it('lays out a very long paste fast enough for every key', () => {
    const text = 'some words of a long line\n'.repeat(8_000);
    const began = performance.now();
    layOut(text);
    expect(performance.now() - began).toBeLessThan(200);
  });
});
