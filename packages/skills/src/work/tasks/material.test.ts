import { Materials } from './material.js';

const part = (name: string, text = 'x') => ({ name, text, mediaType: 'text/plain', isResult: false });

describe('the materials of a context', () => {
  it('are found by name, and of equals the newer counts', () => {
    const materials = new Materials();
    materials.add(part('a', 'old'));
    materials.add(part('b'));
    materials.add(part('a', 'new'));
    expect(materials.names).toEqual(['b', 'a']);
    expect(materials.find('a')?.text).toBe('new');
    expect(materials.newest()?.name).toBe('a');
    expect(materials.find('c')).toBeUndefined();
  });

  it('get names that were never given before, also by another process', () => {
    const materials = new Materials();
    materials.add({ ...part('result_7'), isResult: true });
    materials.add(part('text_3'));
    expect(materials.addResult('y', 'text/plain')).toBe('result_8');
    expect(materials.addResult('y', 'text/plain')).toBe('result_9');
    expect(materials.nextTextName()).toBe('text_4');
  });

  it('are bounded in number and size: the oldest go, the newest stays', () => {
    const materials = new Materials();
    for (let number = 0; number < 150; number += 1) materials.add(part(`n${number}`));
    expect(materials.names).toHaveLength(100);
    expect(materials.find('n49')).toBeUndefined();
    materials.add(part('large', 'x'.repeat(2_000_001)));
    expect(materials.names).toEqual(['large']);
  });
});
