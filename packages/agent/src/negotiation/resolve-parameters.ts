import type { ParameterSchema, Scalar } from '../skill.js';
import { splitParameterKey } from '../wire/agreement.js';
import type { ReasonItem } from '../wire/answers.js';
import { parameterFault } from '../wire/manifest.js';
import type { MatchedCapability } from './match-capabilities.js';
import { nearestValue } from './nearest-value.js';

/** By capability and plain name. */
export type CapabilityValues = ReadonlyMap<string, ReadonlyMap<string, Scalar>>;

export interface ResolvedParameters {
  /** Complete, by capability: wishes that are allowed, nearest values of those that are not, defaults of the rest. */
  readonly values: CapabilityValues;
  /** Wishes that are not allowed and were moved to another value: a counter-offer. */
  readonly changed: readonly ReasonItem[];
  /** Needed by a schema, not wished and without a default. */
  readonly missing: readonly ReasonItem[];
  /** Not allowed, and no allowed value could be found. */
  readonly impossible: readonly ReasonItem[];
  /** Keys as given that no requested capability declares; never applied. */
  readonly unsupported: readonly string[];
}

interface Target {
  readonly capability: string;
  readonly schema: ParameterSchema;
}

/**
 * Settles the parameters of the requested capabilities. A bare name means every capability that declares it and
 * must satisfy all of them; `capability/name` means one and goes before the bare name.
 */
export function resolveParameters(
  capabilities: readonly MatchedCapability[],
  given: Readonly<Record<string, Scalar>>,
): ResolvedParameters {
  const values = new Map(capabilities.map(({ name }) => [name, new Map<string, Scalar>()]));
  const changed: ReasonItem[] = [];
  const impossible: ReasonItem[] = [];
  const unsupported: string[] = [];

  const settle = (name: string, targets: readonly Target[], wish: Scalar): void => {
    const faulty = targets.filter(({ schema }) => parameterFault(schema, wish) !== undefined);
    const common = faulty.length === 0 ? wish : nearestValue(targets.map(({ schema }) => schema), wish); // prettier-ignore
    for (const target of targets) {
      const { capability, schema } = target;
      // Without a value that suits all of them, each gets its own.
      const value = common ?? nearestValue([schema], wish);
      if (value !== undefined) values.get(capability)?.set(name, asSent(value));
      const item = { name: `${capability}/${name}`, code: 'parameter_not_allowed' };
      const detail = parameterFault(schema, wish) ?? 'must be the same for every capability';
      if (value === undefined) impossible.push({ ...item, detail });
      else if (value !== wish) changed.push({ ...item, detail });
    }
  };

  const taken = new Set<string>();
  for (const [key, wish] of addressedFirst(given)) {
    const { capability, name } = splitParameterKey(key);
    const declaring = targetsOf(capabilities, capability, name);
    if (declaring.length === 0) unsupported.push(key);
    const targets = declaring.filter((target) => !taken.has(`${target.capability}/${name}`));
    for (const target of targets) taken.add(`${target.capability}/${name}`);
    settle(name, targets, wish);
  }
  return { values, changed, missing: fillDefaults(capabilities, values, taken), impossible, unsupported };
}

/** JSON knows no negative zero. */
function asSent(value: Scalar): Scalar {
  return value === 0 ? 0 : value;
}

function addressedFirst(given: Readonly<Record<string, Scalar>>): [string, Scalar][] {
  const entries = Object.entries(given);
  return [...entries.filter(([key]) => key.includes('/')), ...entries.filter(([key]) => !key.includes('/'))];
}

function targetsOf(capabilities: readonly MatchedCapability[], capability: string | undefined, name: string): Target[] {
  return capabilities.flatMap((matched) => {
    if (capability !== undefined && capability !== matched.name) return [];
    const schema = matched.parameters.get(name);
    return schema === undefined ? [] : [{ capability: matched.name, schema }];
  });
}

function fillDefaults(
  capabilities: readonly MatchedCapability[],
  values: ReadonlyMap<string, Map<string, Scalar>>,
  taken: ReadonlySet<string>,
): ReasonItem[] {
  const missing: ReasonItem[] = [];
  for (const { name: capability, parameters } of capabilities) {
    for (const [name, schema] of parameters) {
      if (taken.has(`${capability}/${name}`)) continue;
      if (schema.default !== undefined) values.get(capability)?.set(name, asSent(schema.default));
      else if (schema.required === true) {
        missing.push({
          name: `${capability}/${name}`,
          code: 'parameter_required',
          detail: `a ${schema.type} is needed`,
        });
      }
    }
  }
  return missing;
}

/** Which of the keys that the responder must understand no requested capability declares. */
export function undeclaredKeys(capabilities: readonly MatchedCapability[], keys: readonly string[]): string[] {
  return keys.filter((key) => {
    const { capability, name } = splitParameterKey(key);
    return targetsOf(capabilities, capability, name).length === 0;
  });
}

/** Every key that may be negotiated for these capabilities. */
export function declaredKeys(capabilities: readonly MatchedCapability[]): string[] {
  return capabilities.flatMap(({ name, parameters }) =>
    [...parameters.keys()].map((parameter) => `${name}/${parameter}`),
  );
}

/**
 * The values as one map: under the plain name when every capability that declares it has the same value, else
 * under `capability/name`. Given back as wishes, the map leads to the same values.
 */
export function flattenParameters(
  capabilities: readonly MatchedCapability[],
  values: CapabilityValues,
): Record<string, Scalar> {
  const flat: Record<string, Scalar> = {};
  for (const { name: capability, parameters } of capabilities) {
    for (const name of parameters.keys()) {
      const value = values.get(capability)?.get(name);
      if (value === undefined) continue;
      const shared = targetsOf(capabilities, undefined, name).every(
        (target) => values.get(target.capability)?.get(name) === value,
      );
      flat[shared ? name : `${capability}/${name}`] = value;
    }
  }
  return flat;
}
