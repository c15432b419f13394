import { agentId, plainText, requirementText, safeKey } from '@parley/agent';
import { z } from 'zod';

export const MAX_PAGE = 1_000;
export const DEFAULT_PAGE = 100;

/** A page's size: a larger wish is served as the largest page, the cursor says that there is more. */
const limit = z
  .int()
  .min(1, 'at least 1')
  .transform((wish) => Math.min(wish, MAX_PAGE))
  .default(DEFAULT_PAGE);

const cursor = z.string().min(1, 'must not be empty').max(1_024, 'at most 1,024 characters').optional();
const order = z.enum(['id', 'freshest', 'random'], { error: 'must be id, freshest or random' }).default('id');

export const labelSelector = z
  .record(
    safeKey.min(1, 'must not be empty').max(64, 'at most 64 characters'),
    z.string().max(256, 'at most 256 characters'),
  )
  .refine((map) => Object.keys(map).length <= 32, 'at most 32 labels')
  .default({});

export const excludeList = z.array(agentId).max(1_000, 'at most 1,000 ids').default([]);

export const discoverInput = z.strictObject({
  required_capabilities: z
    .array(requirementText, { error: 'required: names, comma-separated' })
    .min(1, 'at least one capability')
    .max(64, 'at most 64 capabilities'),
  labels: labelSelector,
  exclude: excludeList,
  limit,
  cursor,
  order,
  explain: z.boolean().default(false),
});
export type DiscoverInput = z.infer<typeof discoverInput>;

export const listAgentsInput = z.strictObject({ labels: labelSelector, limit, cursor, order });
export const agentIdInput = z.strictObject({ agent_id: agentId });
export const agreementIdInput = z.strictObject({ agreement_id: plainText(128, 1) });

export const watchInput = z.strictObject({
  after_revision: z.int().min(0, 'at least 0').optional(),
  agent_ids: z.array(agentId).max(1_000, 'at most 1,000 ids').default([]),
});
export type WatchInput = z.infer<typeof watchInput>;

export const listWitnessedInput = z.strictObject({
  state: z
    .enum(['pending', 'active', 'suspended', 'ended'], { error: 'must be pending, active, suspended or ended' })
    .optional(),
  agent_id: agentId.optional(),
  limit,
  cursor,
});
