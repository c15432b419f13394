import type { StreamResponse, Task } from '@a2a-js/sdk';
import { V03PushNotificationSerializer } from '@a2a-js/sdk/compat/v0_3/server';
import { V1PushNotificationSerializer, type SerializedPushNotification } from '@a2a-js/sdk/server';

const current = new V1PushNotificationSerializer();
const legacy = new V03PushNotificationSerializer();

/** One event as the protocol version wants it: 1.0 the event itself, 0.3 the task as it then was. */
export function pushBody(
  wireVersion: string,
  event: StreamResponse,
  task: Task | undefined,
): SerializedPushNotification {
  return (wireVersion.startsWith('0.') ? legacy : current).serialize(event, task);
}

/** Whose event it is; undefined for a message outside of any task. */
export function taskIdOf({ payload }: StreamResponse): string | undefined {
  const id = payload?.$case === 'task' ? payload.value.id : payload?.value.taskId;
  return id === '' ? undefined : id;
}
