import type { SessionConfigOption, SessionModeState } from '@agentclientprotocol/sdk';
import type { AcpChoice, AcpConfigOption, AcpModes } from './acp-agent-types.js';
import { invalidParams } from './rpc-failures.js';

/** Clients that know configuration options look for the mode there. */
const MODE_OPTION_ID = 'mode';

/** What a client has chosen for one session. */
export class SessionSettings {
  readonly #modes: AcpModes | undefined;
  readonly #options: readonly AcpConfigOption[];
  readonly #values: Record<string, string>;
  #mode: string;

  constructor(modes: AcpModes | undefined, options: readonly AcpConfigOption[]) {
    this.#modes = modes;
    this.#options = options;
    this.#mode = modes?.initial ?? '';
    this.#values = Object.fromEntries(options.map(({ id, initial }) => [id, initial]));
  }

  /** Empty if there are no modes. */
  get mode(): string {
    return this.#mode;
  }

  get values(): Readonly<Record<string, string>> {
    return this.#values;
  }

  get modeState(): SessionModeState | undefined {
    const modes = this.#modes;
    return modes && { currentModeId: this.#mode, availableModes: [...modes.available] };
  }

  /** Undefined if there is nothing to choose. */
  get configOptions(): SessionConfigOption[] | undefined {
    const modes = this.#modes;
    const mode =
      modes && select({ id: MODE_OPTION_ID, name: 'Mode', category: 'mode', values: modes.available }, this.#mode);
    const others = this.#options.map((option) => select(option, this.#values[option.id] ?? option.initial));
    const all = [...(mode === undefined ? [] : [mode]), ...others];
    return all.length === 0 ? undefined : all;
  }

  /** @throws -32602 for a mode that there is not. */
  setMode(id: string, path = 'modeId'): void {
    if (!hasChoice(this.#modes?.available, id)) throw invalidParams({ path, message: 'there is no such mode' });
    this.#mode = id;
  }

  /** @returns whether it was the mode. @throws -32602 for an option or a value that there is not. */
  setOption(id: string, value: unknown): boolean {
    if (typeof value !== 'string') throw invalidParams({ path: 'value', message: 'must be the id of a value' });
    if (id === MODE_OPTION_ID && this.#modes !== undefined) {
      this.setMode(value, 'value');
      return true;
    }
    const option = this.#options.find((one) => one.id === id);
    if (option === undefined) throw invalidParams({ path: 'configId', message: 'there is no such option' });
    if (!hasChoice(option.values, value))
      throw invalidParams({ path: 'value', message: 'the option has no such value' });
    this.#values[id] = value;
    return false;
  }
}

function hasChoice(choices: readonly AcpChoice[] | undefined, id: string): boolean {
  return choices?.some((choice) => choice.id === id) === true;
}

function select(option: Omit<AcpConfigOption, 'initial'>, currentValue: string): SessionConfigOption {
  const { id, name, description, category, values } = option;
  return {
    type: 'select',
    id,
    name,
    ...(description !== undefined && { description }),
    ...(category !== undefined && { category }),
    currentValue,
    options: values.map(({ id: value, ...words }) => ({ value, ...words })),
  };
}
