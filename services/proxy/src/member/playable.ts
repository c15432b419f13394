import type { CapabilityDetail } from '@parley/agent';

/** What a proxy can: be played. */
export const PLAYABLE = 'playable';

/** There is one driver at a time, so whoever agrees on it has it alone: the parameter has no other value. */
export const PLAYABLE_DETAIL: CapabilityDetail = {
  version: '1.0.0',
  description: 'An agent without a model: whoever agrees on it answers its turns, as its driver.',
  parameters: {
    exclusive: {
      type: 'boolean',
      enum: [true],
      default: true,
      description: 'Nobody else plays it while the agreement lives.',
    },
  },
};
