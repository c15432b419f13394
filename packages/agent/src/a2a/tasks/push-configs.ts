import type {
  DeleteTaskPushNotificationConfigRequest,
  GetTaskPushNotificationConfigRequest,
  ListTaskPushNotificationConfigsRequest,
  ListTaskPushNotificationConfigsResponse,
  TaskPushNotificationConfig,
} from '@a2a-js/sdk';
import { PushNotificationNotSupportedError, RequestMalformedError, TaskNotFoundError } from '@a2a-js/sdk/errors';
import type { PushNotificationStore, ServerCallContext } from '@a2a-js/sdk/server';
import { checkTaskId } from './check-request.js';
import type { EngineParts } from './engine-parts.js';

const MAX_PAGE_SIZE = 100;

/** Of one's own tasks only: somebody else's are not there. */
async function storeFor(parts: EngineParts, taskId: string, call: ServerCallContext): Promise<PushNotificationStore> {
  if (parts.push === undefined || parts.card().capabilities?.pushNotifications !== true) {
    throw new PushNotificationNotSupportedError();
  }
  checkTaskId(taskId);
  if ((await parts.store.load(taskId, call)) === undefined) throw new TaskNotFoundError(`Task not found: ${taskId}`);
  return parts.push.store;
}

export async function createPushConfig(
  parts: EngineParts,
  config: TaskPushNotificationConfig,
  call: ServerCallContext,
): Promise<TaskPushNotificationConfig> {
  const store = await storeFor(parts, config.taskId, call);
  // The store fills in an id that was left out.
  const kept = { ...config };
  await store.save(config.taskId, call, kept);
  return kept;
}

export async function getPushConfig(
  parts: EngineParts,
  { taskId, id }: GetTaskPushNotificationConfigRequest,
  call: ServerCallContext,
): Promise<TaskPushNotificationConfig> {
  const store = await storeFor(parts, taskId, call);
  const config = (await store.load(taskId, call)).find((one) => one.id === id);
  if (config === undefined) throw new TaskNotFoundError(`The task ${taskId} has no push configuration ${id}.`);
  return config;
}

export async function listPushConfigs(
  parts: EngineParts,
  { taskId, pageSize, pageToken }: ListTaskPushNotificationConfigsRequest,
  call: ServerCallContext,
): Promise<ListTaskPushNotificationConfigsResponse> {
  const store = await storeFor(parts, taskId, call);
  if (!Number.isInteger(pageSize) || pageSize < 0 || pageSize > MAX_PAGE_SIZE) {
    throw new RequestMalformedError(`pageSize must be between 1 and ${String(MAX_PAGE_SIZE)}`);
  }
  const configs = (await store.load(taskId, call)).sort((a, b) => (a.id < b.id ? -1 : 1));
  const after = pageToken === '' ? undefined : Buffer.from(pageToken, 'base64url').toString();
  const rest = after === undefined ? configs : configs.filter(({ id }) => id > after);
  const page = rest.slice(0, pageSize === 0 ? MAX_PAGE_SIZE : pageSize);
  const last = page.length < rest.length ? page.at(-1) : undefined;
  return { configs: page, nextPageToken: last === undefined ? '' : Buffer.from(last.id).toString('base64url') };
}

export async function deletePushConfig(
  parts: EngineParts,
  { taskId, id }: DeleteTaskPushNotificationConfigRequest,
  call: ServerCallContext,
): Promise<void> {
  const store = await storeFor(parts, taskId, call);
  await store.delete(taskId, call, id);
}
