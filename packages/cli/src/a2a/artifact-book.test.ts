import { text } from '../../test-support/fake-connection.js';
import { ArtifactBook } from './artifact-book.js';

const named = (...parts: ReturnType<typeof text>[]) => ({ artifactId: 'a', name: 'n', parts });
const bytes = { kind: 'bytes' as const, bytes: Uint8Array.of(1) };

describe('ArtifactBook', () => {
  it('gives pieces as they come', () => {
    const book = new ArtifactBook();
    expect(book.take(named(text('one ')), false)).toMatchObject({ isNew: true, text: 'one ' });
    expect(book.take(named(text('two')), true)).toMatchObject({ isNew: false, isReplaced: false, text: 'two' });
  });

  it('gives of a whole only what is new', () => {
    const book = new ArtifactBook();
    book.take(named(text('one ')), false);
    expect(book.take(named(text('one '), text('two'), bytes), false)).toMatchObject({ text: 'two', parts: [bytes] });
    expect(book.take(named(text('one two'), bytes), false)).toBeUndefined();
  });

  it('gives everything again when it was another text', () => {
    const book = new ArtifactBook();
    book.take(named(text('first'), bytes), false);
    expect(book.take(named(text('second'), bytes), false)).toMatchObject({
      isReplaced: true,
      text: 'second',
      parts: [bytes],
    });
  });

  it('keeps artifacts apart', () => {
    const book = new ArtifactBook();
    book.take(named(text('one')), false);
    expect(book.take({ ...named(text('two')), artifactId: 'b' }, true)).toMatchObject({ isNew: true, text: 'two' });
  });
});
