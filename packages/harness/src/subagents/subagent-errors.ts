import { HarnessError } from '../errors.js';
import type { SubagentCapabilities } from './subagent-types.js';

/** No child exists: the request was refused, or the start failed and was cleaned up. */
export class SubagentStartError extends HarnessError {
  override readonly name: string = 'SubagentStartError';
}

/** Nobody has registered a provider of that name. */
export class UnknownSubagentProviderError extends SubagentStartError {
  override readonly name = 'UnknownSubagentProviderError';

  constructor(provider: string, known: readonly string[]) {
    const list = known.length === 0 ? 'none' : known.join(', ');
    super('subagent_provider_unknown', `unknown subagent provider ${JSON.stringify(provider)}; available: ${list}`);
  }
}

/** The request needs something that its provider cannot enforce. */
export class SubagentCapabilityError extends SubagentStartError {
  override readonly name = 'SubagentCapabilityError';

  constructor(
    provider: string,
    readonly capability: keyof SubagentCapabilities,
  ) {
    super('subagent_capability_missing', `subagent provider "${provider}" does not support ${capability}`);
  }
}

/** The child would be deeper than allowed. */
export class SubagentDepthError extends SubagentStartError {
  override readonly name = 'SubagentDepthError';

  constructor(maxDepth: number) {
    super('subagent_too_deep', `a subagent at depth ${maxDepth} may not start subagents of its own`);
  }
}

/** A name is taken. */
export class DuplicateSubagentProviderError extends HarnessError {
  override readonly name = 'DuplicateSubagentProviderError';

  constructor(provider: string) {
    super('subagent_provider_duplicate', `a subagent provider named "${provider}" is registered already`);
  }
}
