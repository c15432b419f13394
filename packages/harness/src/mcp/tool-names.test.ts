import fc from 'fast-check';
import { ToolNames } from './tool-names.js';

describe('names of MCP tools', () => {
  it('stay as they are where providers accept them', () => {
    expect(new ToolNames().nameOf('calc', 'add-two_3')).toBe('calc__add-two_3');
    expect(new ToolNames().nameOf('s', 'x'.repeat(61))).toBe(`s__${'x'.repeat(61)}`);
  });

  it('are shortened with a hash of the whole name, the same in every process', () => {
    const name = new ToolNames().nameOf('service', 'x'.repeat(100));
    expect(name).toBe(`service__${'x'.repeat(46)}_24ebc50a`);
  });

  it('belong to their tool for good, whatever comes to the same name later', () => {
    const names = new ToolNames();
    const first = names.nameOf('a__b', 'c');
    const second = names.nameOf('a', 'b__c');
    expect(first).toBe('a__b__c');
    expect(second).not.toBe(first);
    expect([names.nameOf('a__b', 'c'), names.nameOf('a', 'b__c')]).toEqual([first, second]);
  });

  it('are always acceptable and never shared', () => {
    const part = fc.oneof(fc.string({ minLength: 1, maxLength: 90 }), fc.constantFrom('a', 'a_', '_a', 'a.b', 'a__b'));
    fc.assert(
      fc.property(fc.uniqueArray(fc.tuple(part, part), { selector: String, maxLength: 20 }), (tools) => {
        const names = new ToolNames();
        const given = tools.map(([service, tool]) => names.nameOf(service, tool));
        for (const name of given) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/u);
        expect(new Set(given).size).toBe(new Set(tools.map(([service, tool]) => `${service}\u0000${tool}`)).size);
      }),
    );
  });
});
