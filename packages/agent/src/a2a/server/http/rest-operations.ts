import {
  AgentCard,
  ListTaskPushNotificationConfigsResponse,
  ListTasksResponse,
  Message,
  SendMessageRequest,
  StreamResponse,
  Task,
  TaskPushNotificationConfig,
  taskStateFromJSON,
  TaskState,
  type ListTasksRequest,
} from '@a2a-js/sdk';
import type { A2ARequestHandler, ServerCallContext } from '@a2a-js/sdk/server';
import { invalidField } from '@parley/service-kit';
import type { RestMatch } from './rest-paths.js';

export interface RestInput {
  readonly match: RestMatch;
  /** Undefined without a body. */
  readonly body: Record<string, unknown>;
  readonly query: URLSearchParams;
  readonly context: ServerCallContext;
}

export type RestOutput =
  | { readonly status: number; readonly json: unknown }
  | { readonly events: AsyncGenerator<StreamResponse, void, undefined> };

/** Does what a request of protocol 1.0 asks, from its JSON to the JSON of its answer. */
export async function runRest(handler: A2ARequestHandler, input: RestInput): Promise<RestOutput> {
  const { match, body, query, context } = input;
  const { taskId, configId } = match;
  const tenant = match.tenant ?? query.get('tenant') ?? '';
  switch (match.operation) {
    case 'sendMessage': {
      const result = await handler.sendMessage(sendRequest(input, tenant), context);
      const isMessage = 'messageId' in result;
      return ok(isMessage ? { message: Message.toJSON(result) } : { task: Task.toJSON(result) });
    }
    case 'sendMessageStream':
      return { events: handler.sendMessageStream(sendRequest(input, tenant), context) };
    case 'resubscribe':
      return { events: handler.resubscribe({ id: taskId, tenant }, context) };
    case 'getTask': {
      const params = { id: taskId, tenant, historyLength: count(query, 'historyLength') };
      return ok(Task.toJSON(await handler.getTask(params, context)));
    }
    case 'listTasks': {
      const params = listRequest(query, tenant);
      return ok(tasksPage(await handler.listTasks(params, context), params.includeArtifacts === true));
    }
    case 'cancelTask': {
      const metadata = SendMessageRequest.fromJSON({ metadata: body['metadata'] }).metadata;
      return ok(Task.toJSON(await handler.cancelTask({ id: taskId, tenant, metadata }, context)));
    }
    case 'createPushConfig': {
      const config = TaskPushNotificationConfig.fromJSON({ ...body, taskId, tenant });
      const made = await handler.createTaskPushNotificationConfig(config, context);
      return { status: 201, json: TaskPushNotificationConfig.toJSON(made) };
    }
    case 'getPushConfig': {
      const config = await handler.getTaskPushNotificationConfig({ taskId, id: configId, tenant }, context);
      return ok(TaskPushNotificationConfig.toJSON(config));
    }
    case 'listPushConfigs': {
      const pageSize = count(query, 'pageSize') ?? 0;
      const params = { taskId, tenant, pageSize, pageToken: query.get('pageToken') ?? '' };
      const page = await handler.listTaskPushNotificationConfigs(params, context);
      return ok(ListTaskPushNotificationConfigsResponse.toJSON(page));
    }
    case 'deletePushConfig':
      await handler.deleteTaskPushNotificationConfig({ taskId, id: configId, tenant }, context);
      // An empty object and not an empty body: there are clients that parse whatever comes.
      return ok({});
    case 'getExtendedCard':
      return ok(AgentCard.toJSON(await handler.getAuthenticatedExtendedAgentCard({ tenant }, context)));
  }
}

export const eventJson = (event: StreamResponse): object => StreamResponse.toJSON(event) as object;

function ok(json: unknown): RestOutput {
  return { status: 200, json };
}

function sendRequest({ body, match }: RestInput, tenant: string): SendMessageRequest {
  const request = SendMessageRequest.fromJSON(body);
  return match.tenant === undefined && request.tenant !== '' ? request : { ...request, tenant };
}

function listRequest(query: URLSearchParams, tenant: string): ListTasksRequest {
  return {
    tenant,
    contextId: query.get('contextId') ?? '',
    status: stateOf(query.get('status')),
    pageSize: count(query, 'pageSize'),
    pageToken: query.get('pageToken') ?? '',
    historyLength: count(query, 'historyLength'),
    statusTimestampAfter: momentOf(query.get('statusTimestampAfter')),
    includeArtifacts: query.get('includeArtifacts') === 'true',
  };
}

function stateOf(said: string | null): TaskState {
  if (said === null || said === '') return TaskState.TASK_STATE_UNSPECIFIED;
  const state = taskStateFromJSON(/^\d+$/.test(said) ? Number(said) : said);
  if (state === TaskState.UNRECOGNIZED) throw invalidField('status', 'must be a state of a task');
  return state;
}

function momentOf(said: string | null): string | undefined {
  if (said === null || said === '') return undefined;
  if (Number.isNaN(Date.parse(said))) throw invalidField('statusTimestampAfter', 'must be a time as in RFC 3339');
  return said;
}

function count(query: URLSearchParams, name: string): number | undefined {
  const said = query.get(name);
  if (said === null || said === '') return undefined;
  if (!/^\d{1,9}$/.test(said)) throw invalidField(name, 'must be a count');
  return Number(said);
}

/** The members of a page are always there, also where they are empty. */
function tasksPage(page: ListTasksResponse, withArtifacts: boolean): object {
  const { tasks = [], ...rest } = ListTasksResponse.toJSON(page) as { tasks?: object[] };
  return {
    nextPageToken: '',
    pageSize: 0,
    totalSize: 0,
    ...rest,
    tasks: withArtifacts ? tasks.map((task) => ({ artifacts: [], ...task })) : tasks,
  };
}
