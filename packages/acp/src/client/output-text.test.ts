import { cutToBytes } from './cut-text.js';
import { OutputText } from './output-text.js';

const MAX_BYTES = 100;

function outputOf(...parts: (string | [text: string, messageId: string])[]): OutputText {
  const output = new OutputText(MAX_BYTES);
  for (const part of parts) {
    if (part === 'TOOL') output.toolCall();
    else if (typeof part === 'string') output.append(part);
    else output.append(...part);
  }
  return output;
}

describe('the text of a child', () => {
  it('is put together from its chunks', () => {
    expect(outputOf('a', 'b', 'c').text).toBe('abc');
    expect(outputOf().text).toBe('');
  });

  it('is its last message, where messages have ids', () => {
    expect(outputOf(['I will look', '1'], ['It is ', '2'], ['42', '2']).text).toBe('It is 42');
  });

  it('goes on over a tool call with the same message id', () => {
    expect(outputOf(['one ', '1'], 'TOOL', ['two', '1']).text).toBe('one two');
  });

  it('is the message that began last, where messages come interleaved', () => {
    expect(outputOf(['a', '1'], ['b', '2'], ['c', '1'], ['d', '2']).text).toBe('bd');
  });

  it('is what comes after the last tool call, where messages have no ids', () => {
    expect(outputOf('I will look', 'TOOL', 'and again', 'TOOL', 'It is ', '42').text).toBe('It is 42');
  });

  it('is what was said before the last tool call, if nothing was said after it', () => {
    expect(outputOf('It is 42', 'TOOL').text).toBe('It is 42');
    expect(outputOf('It is 42', 'TOOL', '', ' \n').text).toBe('It is 42');
    expect(outputOf(['It is 42', '1'], ['\n', '2']).text).toBe('It is 42');
  });

  it('takes a chunk without an id as a part of the message before it', () => {
    expect(outputOf(['It ', '1'], 'is 42').text).toBe('It is 42');
    expect(outputOf(['narration', '1'], 'TOOL', 'It is 42').text).toBe('It is 42');
  });

  it('begins anew when the message that it went on with is forgotten', () => {
    const [half, full] = [MAX_BYTES / 2, MAX_BYTES];
    const output = outputOf(['a'.repeat(half), '1'], ['b'.repeat(full), '2'], ['c'.repeat(half), '3']);
    output.append('a'.repeat(half), '1');
    output.append('It is 42');
    expect(output.text).toBe('It is 42');
  });

  it('keeps a character whole whose halves come in two chunks', () => {
    const [high = '', low = ''] = '😀'.split('');
    expect(outputOf(high, low).text).toBe('😀');
    expect(outputOf(high).text).toBe('\ufffd');
  });

  it('is cut after so many bytes, never inside a character', () => {
    const output = outputOf('x'.repeat(MAX_BYTES - 1), 'é', 'more');
    expect(output.text).toBe('x'.repeat(MAX_BYTES - 1));
    expect(output.wasCut).toBe(true);
    expect(outputOf('x'.repeat(MAX_BYTES)).wasCut).toBe(false);
  });

  it('has room for an answer after any amount of narration', () => {
    const output = outputOf();
    for (let i = 0; i < 50; i += 1) {
      output.append('x'.repeat(MAX_BYTES * 2));
      output.toolCall();
      output.append('y'.repeat(MAX_BYTES), `${i}`);
      output.toolCall();
    }
    output.append('It is 42');
    expect(output.text).toBe('It is 42');
    expect(output.wasCut).toBe(false);
  });
});

describe('cutting a text', () => {
  it.each([
    ['plain', 5, 'plain'],
    ['plain', 4, 'plai'],
    ['aé', 2, 'a'],
    ['a😀', 4, 'a'],
    ['a😀', 5, 'a😀'],
    ['a', 0, ''],
    ['a', -1, ''],
  ])('%j to %d bytes', (text, maxBytes, expected) => {
    expect(cutToBytes(text, maxBytes)).toBe(expected);
  });
});
