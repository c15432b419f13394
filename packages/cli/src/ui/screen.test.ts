import { VirtualScreen } from '../../test-support/virtual-screen.js';
import { type Block, gap, line, marked, text } from './block.js';
import { type LiveRows, Screen } from './screen.js';
import { colourPaint, type Line, plainPaint } from './style.js';

class Fixture {
  readonly terminal: VirtualScreen;
  readonly screen: Screen;
  live: readonly string[] = ['> '];
  cursor: readonly [number, number] = [0, 2];
  written = '';
  #frame: (() => void) | undefined;

  constructor(columns = 20, rows = 8, paint = plainPaint) {
    const terminal = new VirtualScreen(columns, rows);
    this.terminal = terminal;
    this.screen = new Screen({
      output: {
        get columns() {
          return terminal.columns;
        },
        get rows() {
          return terminal.rows;
        },
        write: (chunk) => {
          this.written += chunk;
          terminal.write(chunk);
        },
      },
      paint,
      view: (): LiveRows => ({
        rows: this.live.map((row): Line => [{ text: row }]),
        cursorRow: this.cursor[0],
        cursorColumn: this.cursor[1],
      }),
      later: (work) => {
        this.#frame = work;
        return () => (this.#frame = undefined);
      },
    });
    this.screen.draw();
  }

  get hasFrame(): boolean {
    return this.#frame !== undefined;
  }

  print(...blocks: Block[]): string {
    this.screen.print(blocks);
    this.screen.draw();
    return this.terminal.text;
  }
}

const stream = (delta: string): Block => ({ type: 'stream', text: delta, tone: 'plain' });

describe('Screen', () => {
  it('prints above the live rows, whatever they hold', () => {
    const fixture = new Fixture();
    expect(fixture.print(text('one'))).toBe('one\n>');
    fixture.live = ['status', '> abc', '  def'];
    fixture.cursor = [1, 4];
    expect(fixture.print(text('two'))).toBe('one\ntwo\nstatus\n> abc\n  def');
    expect(fixture.terminal.cursor).toEqual([3, 4]);
    fixture.live = ['> '];
    fixture.cursor = [0, 2];
    expect(fixture.print(text('three'))).toBe('one\ntwo\nthree\n>');
  });

  it('lets output scroll away and never touches it again', () => {
    const fixture = new Fixture(20, 4);
    for (let at = 0; at < 20; at += 1) fixture.print(text(`row ${at}`));
    expect(fixture.terminal.all).toBe([...Array.from({ length: 20 }, (_, at) => `row ${at}`), '>'].join('\n'));
  });

  it('shows a streamed row while it grows, once', () => {
    const fixture = new Fixture(12);
    expect(fixture.print(stream('the quick'))).toBe('the quick\n>');
    expect(fixture.print(stream(' brown'))).toBe('the quick\nbrown\n>');
    expect(fixture.print(stream(' fox\nnew'))).toBe('the quick\nbrown fox\nnew\n>');
    expect(fixture.print(text('other'))).toBe('the quick\nbrown fox\nnew\nother\n>');
  });

  it('separates streams of two tones', () => {
    const fixture = new Fixture();
    const thinking: Block = { type: 'stream', text: 'hm', tone: 'dim' };
    expect(fixture.print(text('a'), thinking, stream('yes'))).toBe('a\n\nhm\n\nyes\n>');
  });

  it('makes one gap of several, and none at the top', () => {
    const fixture = new Fixture();
    expect(fixture.print(gap, gap, text('a'), gap, gap, text('b'))).toBe('a\n\nb\n>');
  });

  it('breaks texts and cuts lines at the edge', () => {
    const fixture = new Fixture(10);
    expect(fixture.print(text('aaaa bbbb cccc', 'plain', 2), line({ text: 'aaaa ' }, { text: 'bbbbbbbb' }))).toBe(
      '  aaaa\n  bbbb\n  cccc\naaaa bbb…\n>',
    );
  });

  it('indents what follows a mark', () => {
    const fixture = new Fixture(10);
    expect(fixture.print(marked('> ', 'aaaa bbbb\ncc', 'plain'))).toBe('> aaaa\n  bbbb\n  cc\n>');
  });

  it('draws many changes as one frame', () => {
    const fixture = new Fixture();
    fixture.written = '';
    for (const word of ['a', 'b', 'c']) fixture.screen.print([stream(word)]);
    expect(fixture.written).toBe('');
    expect(fixture.hasFrame).toBe(true);
    fixture.screen.draw();
    expect(fixture.hasFrame).toBe(false);
    expect(fixture.terminal.text).toBe('abc\n>');
  });

  it.each([
    ['narrower', 12],
    ['wider', 40],
  ])('finds its live rows again after the window became %s', (_, columns) => {
    const fixture = new Fixture(20);
    fixture.live = ['aaaaaaaaaaaaaaaa', '> bbbbbbbbbbbbbb'];
    fixture.cursor = [1, 16];
    fixture.print(text('before'));
    const reflowed = new VirtualScreen(columns, 8);
    reflowed.write(`before\r\naaaaaaaaaaaaaaaa\r\n> bbbbbbbbbbbbbb`);
    Object.assign(fixture.terminal, { columns });
    const written = (fixture.written = '');
    fixture.live = ['> '];
    fixture.cursor = [0, 2];
    fixture.screen.draw();
    reflowed.write(fixture.written.slice(written.length));
    expect(reflowed.text).toBe('before\n>');
  });

  it('fits into a window of one row', () => {
    const fixture = new Fixture(20, 1);
    fixture.print(stream('growing'));
    expect(fixture.terminal.text).toBe('>');
  });

  it('leaves the output and nothing else when it closes', () => {
    const fixture = new Fixture();
    fixture.screen.print([stream('end')]);
    fixture.screen.close();
    fixture.print(text('late'));
    expect(fixture.terminal.text).toBe('end');
    expect(fixture.terminal.cursor).toEqual([1, 0]);
  });

  it('takes the live rows away and brings them back', () => {
    const fixture = new Fixture();
    fixture.print(text('a'));
    fixture.screen.withdraw();
    expect(fixture.terminal.text).toBe('a');
    fixture.terminal.write('$ fg\r\n');
    fixture.screen.forgetLive();
    expect(fixture.print(text('b'))).toBe('a\n$ fg\nb\n>');
  });

  it('colours only what has a tone, and closes every colour on its row', () => {
    const fixture = new Fixture(20, 8, colourPaint);
    fixture.print(text('a\nb', 'bad'));
    expect(fixture.written).toContain('\u001b[31ma\u001b[39m\r\n\u001b[31mb\u001b[39m\r\n');
  });
});
