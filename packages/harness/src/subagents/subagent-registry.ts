import {
  DuplicateSubagentProviderError,
  SubagentCapabilityError,
  SubagentDepthError,
  SubagentStartError,
  UnknownSubagentProviderError,
} from './subagent-errors.js';
import type { SubagentCapabilities, SubagentProvider, SubagentRequest, SubagentRun } from './subagent-types.js';

const NAME = /^[a-z0-9][a-z0-9_.-]{0,63}$/iu;

/** The kinds of subagents that an agent can have, by name. */
export class SubagentRegistry {
  readonly #providers = new Map<string, SubagentProvider>();

  /**
   * @returns a function that takes the provider out again; children that run are left alone.
   * @throws DuplicateSubagentProviderError; RangeError for a name that is not 1 to 64 letters, digits, `_`, `.`, `-`.
   */
  register(name: string, provider: SubagentProvider): () => void {
    if (!NAME.test(name)) throw new RangeError('a subagent provider needs a name of 1 to 64 letters, digits, "_.-"');
    if (this.#providers.has(name)) throw new DuplicateSubagentProviderError(name);
    this.#providers.set(name, provider);
    return () => {
      // The name may have been given to another one since.
      if (this.#providers.get(name) === provider) this.#providers.delete(name);
    };
  }

  get(name: string): SubagentProvider | undefined {
    return this.#providers.get(name);
  }

  /** Names in the order in which they were registered. */
  list(): readonly string[] {
    return [...this.#providers.keys()];
  }

  /**
   * Starts a child, unless the request is refused: then no provider hears of it.
   *
   * @throws SubagentStartError, or what the provider failed with. Either way no child is left.
   */
  async start(name: string, request: SubagentRequest): Promise<SubagentRun> {
    const provider = this.#providers.get(name);
    if (provider === undefined) throw new UnknownSubagentProviderError(name, this.list());
    const missing = neededCapabilities(request).find((capability) => !provider.capabilities[capability]);
    if (missing !== undefined) throw new SubagentCapabilityError(name, missing);
    if (request.maxDepth !== undefined && request.parent.depth >= request.maxDepth) {
      throw new SubagentDepthError(request.maxDepth);
    }
    if (request.signal.aborted) throw new SubagentStartError('subagent_cancelled', 'cancelled before it started');
    return provider.start(request);
  }
}

function neededCapabilities(request: SubagentRequest): readonly (keyof SubagentCapabilities)[] {
  const needed: (keyof SubagentCapabilities)[] = [];
  if (request.outputSchema !== undefined) needed.push('outputSchema');
  if (request.maxDepth !== undefined) needed.push('depthLimit');
  if (request.toolFilter !== undefined) needed.push('toolFilter');
  if (request.persona !== undefined) needed.push('persona');
  return needed;
}
