import type { JsonObject } from '../json.js';
import { MethodToolHandler } from './method-tool-handler.js';
import { contents, recordedTurn } from './recorded-turn.test-helper.js';
import { StepOutcome } from './step-outcome.js';
import type { ToolCallContext } from './tool-handler.js';
import { ToolRuntime } from './tool-runtime.js';

class Files extends MethodToolHandler {
  readonly #root = '/root';

  doAdd({ left, right }: JsonObject): number {
    return Number(left) + Number(right);
  }

  async doReadFile({ path }: JsonObject, context: ToolCallContext): Promise<StepOutcome> {
    return new StepOutcome(`${this.#root}/${JSON.stringify(path)} ${context.callId}`);
  }
}

describe('a handler of methods', () => {
  it('gives each tool its method', async () => {
    const handler = new Files([
      { name: 'add', description: '', effect: 'read_only' },
      { type: 'function', function: { name: 'read_file' } },
    ]);
    expect(handler.tools.map((tool) => [tool.name, tool.effect])).toEqual([
      ['add', 'read_only'],
      ['read_file', 'side_effecting'],
    ]);
    const runtime = new ToolRuntime({ handlers: [handler] });
    await runtime.start(new AbortController().signal);
    const turn = recordedTurn(['add {"left": 1, "right": 2}', 'read_file {"path": "x"}']);
    await runtime.runTurn(turn);
    expect(contents(turn)).toEqual(['3', '/root/"x" c2']);
  });

  it('accepts a dash in place of an underscore', () => {
    expect(() => new Files([{ name: 'read-file' }])).not.toThrow();
  });

  it('cannot be made without the method of a tool', () => {
    expect(() => new Files([{ name: 'write_file' }])).toThrow('tool "write_file" needs a method doWriteFile');
  });

  it('cannot be made with a wrong definition, or two tools of one method', () => {
    expect(() => new Files([{ name: 'a b' }])).toThrow(expect.objectContaining({ field: 'name' }));
    expect(() => new Files([{ name: 'read_file' }, { name: 'readFile' }])).toThrow('would share the method doReadFile');
    expect(() => new Files([{ name: 'add' }, { name: 'add' }])).toThrow('would share the method doAdd');
  });

  it('does not take a tool for a method of another kind', () => {
    expect(() => new Files([{ name: 'constructor' }])).toThrow('needs a method doConstructor');
  });
});
