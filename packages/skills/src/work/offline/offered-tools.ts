import type { ToolDefinition } from '@parley/harness';
import { asRecord } from '../tasks/as-record.js';
import { nameOf } from '../tasks/delegate-tool.js';

/** A parameter that the words may set. */
export interface OfferedParameter {
  readonly name: string;
  readonly type: string | undefined;
  readonly values: readonly string[];
  readonly isRequired: boolean;
}

const NO_WORK = new Set(['ask_for_input', 'decline']);
const DELEGATE = 'delegate';

/** The tools of a request, as far as planning needs to know them. */
export class OfferedTools {
  readonly #tools: ReadonlyMap<string, ToolDefinition>;

  constructor(tools: readonly ToolDefinition[]) {
    this.#tools = new Map(tools.map((tool) => [tool.name, tool]));
  }

  /** Capabilities that are done here. */
  get own(): readonly string[] {
    return [...this.#tools.keys()].filter((name) => !NO_WORK.has(name) && name !== DELEGATE);
  }

  get canDelegate(): boolean {
    return this.#tools.has(DELEGATE);
  }

  isWork(tool: string): boolean {
    return !NO_WORK.has(tool);
  }

  isOwn(capability: string): boolean {
    return this.own.includes(capability);
  }

  canDo(capability: string): boolean {
    return this.isOwn(nameOf(capability)) || this.canDelegate;
  }

  /** Those that were not agreed on; none of a capability that others do. */
  parametersOf(capability: string): readonly OfferedParameter[] {
    const schema = this.#tools.get(nameOf(capability))?.parameters;
    const required = Array.isArray(schema?.['required']) ? schema['required'] : [];
    return Object.entries(asRecord(schema?.['properties']) ?? {}).flatMap(([name, value]) => {
      const { type, enum: values, const: agreed, anyOf } = asRecord(value) ?? {};
      if (agreed !== undefined || anyOf !== undefined) return [];
      return [
        {
          name,
          type: typeof type === 'string' ? type : undefined,
          values: Array.isArray(values) ? values.map(String) : [],
          isRequired: required.includes(name),
        },
      ];
    });
  }

  /** The call that does a step on parts with these names; no names: on what is given. */
  callFor(
    step: { readonly capability: string; readonly parameters: Readonly<Record<string, unknown>> },
    names: readonly string[],
  ): { readonly name: string; readonly arguments: object } {
    const { capability, parameters } = step;
    const part = names.length > 1 ? names : names[0];
    const own = this.#tools.get(nameOf(capability));
    if (own === undefined) {
      const args = { capability, parameters, ...(part === undefined ? {} : { part }) };
      return { name: DELEGATE, arguments: args };
    }
    const argument = Object.keys(asRecord(own.parameters?.['properties']) ?? {}).find((name) => name.endsWith('_part'));
    const input = argument === undefined || part === undefined ? {} : { [argument]: part };
    return { name: own.name, arguments: { ...input, ...parameters } };
  }

  /** One sentence of what is on offer. */
  describe(): string {
    const own = this.own.join(', ');
    const others = this.canDelegate ? ' I can also ask other agents, for a code_review for example.' : '';
    return own === '' ? others.trim() : `I can do: ${own}.${others}`;
  }
}
