import type { Scalar, Skill } from '@parley/agent';
import {
  StepOutcome,
  type JsonObject,
  type ToolCallContext,
  type ToolDefinition,
  type ToolHandler,
} from '@parley/harness';
import { AppError } from '@parley/service-kit';
import { completeParameters } from './complete-parameters.js';
import type { Material } from './material.js';
import { toolError } from './tool-error.js';
import { signatureOf, type SkillSignature } from './skill-arguments.js';
import type { TurnLedger } from './turn-ledger.js';

/** An agent's own skills as tools: the model says on what, within what was agreed. */
export class SkillTools implements ToolHandler {
  readonly tools: readonly ToolDefinition[];
  readonly #skills: ReadonlyMap<string, { readonly skill: Skill; readonly signature: SkillSignature }>;
  readonly #fixed: Readonly<Record<string, Scalar>>;
  readonly #ledger: TurnLedger;
  readonly #contextId: string;

  constructor(
    skills: readonly Skill[],
    given: {
      readonly fixed: Readonly<Record<string, Scalar>>;
      readonly ledger: TurnLedger;
      readonly contextId: string;
    },
  ) {
    const entries = skills.map((skill) => ({ skill, signature: signatureOf(skill, given.fixed) }));
    this.#skills = new Map(entries.map((entry) => [entry.skill.capability, entry]));
    this.tools = entries.map(({ signature }) => signature.definition);
    this.#fixed = given.fixed;
    this.#ledger = given.ledger;
    this.#contextId = given.contextId;
  }

  async call({ tool, arguments: args, signal }: ToolCallContext): Promise<unknown> {
    const known = this.#skills.get(tool.name);
    if (known === undefined) return toolError('unknown_tool', `There is no capability ${tool.name} here.`);
    const { skill, signature } = known;
    const input = this.#inputOf(signature, args);
    if (input instanceof StepOutcome) return input;
    const parameters = this.#parametersOf(skill, args);
    this.#ledger.working(`${skill.capability}: ${this.#ledger.agentId} is working`);
    try {
      const output = await skill.run(input, { parameters, signal, contextId: this.#contextId });
      return this.#ledger.deliver(skill.capability, output, parameters);
    } catch (error) {
      const failure = AppError.from(error);
      this.#ledger.failed(skill.capability, failure);
      return toolError(failure.code, failure.message);
    }
  }

  #inputOf({ textField, partArgument, inputFields }: SkillSignature, args: JsonObject): JsonObject | StepOutcome {
    const given = Object.fromEntries(Object.entries(args).filter(([name]) => inputFields.includes(name)));
    if (textField === undefined || partArgument === undefined || given[textField] !== undefined) return given;
    const materials = this.#materialsFor(args[partArgument]);
    if (materials instanceof StepOutcome) return materials;
    const [first] = materials;
    const fileName = materials.length === 1 && inputFields.includes('filename') ? first?.fileName : undefined;
    const text = materials.map((material) => material.text).join('\n\n');
    return { ...(fileName === undefined ? {} : { filename: fileName.slice(-255) }), ...given, [textField]: text };
  }

  #materialsFor(named: unknown): readonly Material[] | StepOutcome {
    const { materials } = this.#ledger;
    if (named === undefined) {
      const newest = materials.newest();
      return newest === undefined ? toolError('no_text', 'There is nothing to work on: ask for it.') : [newest];
    }
    const names = [named].flat().map(String);
    const found = names.flatMap((name) => materials.find(name) ?? []);
    if (found.length === names.length) return found;
    return toolError('no_such_part', `There is no such part. There are: ${materials.names.join(', ') || 'none'}.`);
  }

  #parametersOf({ detail }: Skill, args: JsonObject): Readonly<Record<string, Scalar>> {
    const schemas = detail.parameters ?? {};
    const chosen = Object.keys(schemas).flatMap((name) => {
      const value = args[name];
      return isScalar(value) ? [[name, value] as const] : [];
    });
    return completeParameters(schemas, { ...Object.fromEntries(chosen), ...this.#fixed });
  }
}

export function isScalar(value: unknown): value is Scalar {
  return ['string', 'number', 'boolean'].includes(typeof value);
}
