import { canonicalText } from './canonical.js';
import type { Action, ExpectedCall, JsonObject, RecordedBlock } from './facts.js';

/** The name of the proxy's own shell, as a tool. */
export const BASH = 'bash';

/** What is compared of an action: the tool's name and a text that is equal for equal arguments. */
export interface CallKey {
  readonly name: string;
  readonly key: string;
}

export function keyOfAction(action: Action): CallKey {
  return action.kind === 'bash'
    ? { name: BASH, key: JSON.stringify(action.command) }
    : { name: action.name, key: canonicalText(action.arguments) };
}

/**
 * The calls in a message that have to be run, `isOwnShell` by the tools that the turn offers (undefined: not offered).
 * A call to something else permits and blocks nothing: nobody could run it. The same goes for a call of the proxy's
 * bash without a command: no action can ever be equal to it, and the model hears of its mistake from the driver.
 */
export function expectedCalls(
  blocks: readonly RecordedBlock[],
  isOwnShell: (name: string) => boolean | undefined,
): readonly ExpectedCall[] {
  const calls: ExpectedCall[] = [];
  let index = -1;
  for (const block of blocks) {
    if (block.type !== 'tool_use') continue;
    index += 1;
    const ownShell = isOwnShell(block.name);
    const key = ownShell === undefined ? undefined : keyOfCall(block.input, ownShell);
    if (key !== undefined) calls.push({ index, callId: block.id, name: block.name, key });
  }
  return calls;
}

function keyOfCall(input: JsonObject, ownShell: boolean): string | undefined {
  if (!ownShell) return canonicalText(input);
  const command = Object.hasOwn(input, 'command') ? input['command'] : undefined;
  return typeof command === 'string' ? JSON.stringify(command) : undefined;
}

/** The calls of the last recorded message that have not run: a multiset, each is run once. */
export class ExpectedCalls {
  readonly #byIndex = new Map<number, ExpectedCall>();
  /** Calls that are equal, last first: the one that the message made first is taken first. */
  readonly #byKey = new Map<string, ExpectedCall[]>();

  constructor(calls: readonly ExpectedCall[] = []) {
    for (const call of calls.toReversed()) this.putBack(call);
  }

  get size(): number {
    return this.#byIndex.size;
  }

  /** Takes out the call that an action is; undefined if the message made none like it, or it has run. */
  take(wanted: CallKey): ExpectedCall | undefined {
    const call = this.#byKey.get(groupOf(wanted))?.at(-1);
    if (call !== undefined) this.remove(call);
    return call;
  }

  /** Takes out this one; nothing happens if it is out already. */
  remove(call: ExpectedCall): void {
    if (!this.#byIndex.delete(call.index)) return;
    const group = groupOf(call);
    const equal = this.#byKey.get(group) ?? [];
    if (equal.at(-1)?.index === call.index) equal.pop();
    else
      equal.splice(
        equal.findIndex(({ index }) => index === call.index),
        1,
      );
    if (equal.length === 0) this.#byKey.delete(group);
  }

  /** Of a call that was taken, when its action could not start after all. */
  putBack(call: ExpectedCall): void {
    if (this.#byIndex.has(call.index)) return;
    this.#byIndex.set(call.index, call);
    const group = groupOf(call);
    const equal = this.#byKey.get(group);
    if (equal === undefined) this.#byKey.set(group, [call]);
    else equal.push(call);
  }

  /** In the order of the message. */
  list(): readonly ExpectedCall[] {
    return [...this.#byIndex.values()].sort((one, other) => one.index - other.index);
  }

  /** Each name once, sorted. */
  names(): readonly string[] {
    return [...new Set([...this.#byIndex.values()].map(({ name }) => name))].sort();
  }
}

function groupOf({ name, key }: CallKey): string {
  // The key is JSON text and holds no NUL, so where it begins is certain.
  return `${name}\0${key}`;
}
