import { randomUUID } from 'node:crypto';
import type { TaskPushNotificationConfig } from '@a2a-js/sdk';
import { RequestMalformedError } from '@a2a-js/sdk/errors';
import type { OwnerResolver, PushNotificationStore, StoredPushNotificationConfig } from '@a2a-js/sdk/server';
import type { ServerCallContext } from '@a2a-js/sdk/server';
import { checkPushConfig, type PushTargetRules } from './push-target.js';

/** A store that remembers over which version of the protocol each configuration came. */
export type AgentPushStore = Required<PushNotificationStore>;

export interface PushStoreOptions {
  /** A configuration that these refuse is not stored. Default: only `https:` to public addresses. */
  readonly rules?: PushTargetRules;
  /** Configurations of one task. Default 16. */
  readonly maxPerTask?: number;
  /** A configuration is forgotten so long after it was last set. Default 2,592,000,000. */
  readonly keepMs?: number;
  /** Whose task it is. Default: the name of the caller. */
  readonly ownerResolver?: OwnerResolver;
  /** ms since the epoch. Default `Date.now`. */
  readonly now?: () => number;
}

export const DEFAULT_MAX_PER_TASK = 16;
export const DEFAULT_KEEP_MS = 2_592_000_000;

/**
 * What is stored for a configuration. One without an id gets one, also in the caller's own object: that is how the
 * request handler learns of it.
 * @throws RequestMalformedError
 */
export function toStored(
  taskId: string,
  context: ServerCallContext,
  config: TaskPushNotificationConfig,
  rules: PushTargetRules | undefined,
): StoredPushNotificationConfig {
  checkPushConfig(config, rules);
  if (config.id === '') config.id = randomUUID();
  return { config: copyConfig({ ...config, taskId }), wireVersion: context.requestedVersion };
}

export function copyConfig(config: TaskPushNotificationConfig): TaskPushNotificationConfig {
  const { authentication } = config;
  return { ...config, authentication: authentication === undefined ? undefined : { ...authentication } };
}

export function tooManyConfigs(max: number): Error {
  return new RequestMalformedError(
    `taskPushNotificationConfig: a task has at most ${String(max)} push notification configurations`,
  );
}
