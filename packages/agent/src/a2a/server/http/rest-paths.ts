/** What a path of the HTTP+JSON binding asks for. */
export type RestOperation =
  | 'sendMessage'
  | 'sendMessageStream'
  | 'getTask'
  | 'listTasks'
  | 'cancelTask'
  | 'resubscribe'
  | 'createPushConfig'
  | 'getPushConfig'
  | 'listPushConfigs'
  | 'deletePushConfig'
  | 'getExtendedCard';

export interface RestMatch {
  readonly operation: RestOperation;
  readonly tenant: string | undefined;
  readonly taskId: string;
  readonly configId: string;
}

/** Nothing is at a path, or nothing by this method: `allow` has the methods. */
export type RestMiss = { readonly allow: readonly string[] } | undefined;

type ByMethod = Readonly<Partial<Record<string, RestOperation>>>;

const ROOTS: ReadonlySet<string> = new Set(['message:send', 'message:stream', 'tasks', 'extendedAgentCard']);
const FIXED: Readonly<Partial<Record<string, ByMethod>>> = {
  'message:send': { POST: 'sendMessage' },
  'message:stream': { POST: 'sendMessageStream' },
  tasks: { GET: 'listTasks' },
  extendedAgentCard: { GET: 'getExtendedCard' },
};
const TASK: ByMethod = { GET: 'getTask' };
const VERBS: readonly (readonly [string, ByMethod])[] = [
  [':cancel', { POST: 'cancelTask' }],
  [':subscribe', { GET: 'resubscribe', POST: 'resubscribe' }],
];
const CONFIGS: ByMethod = { GET: 'listPushConfigs', POST: 'createPushConfig' };
const CONFIG: ByMethod = { GET: 'getPushConfig', DELETE: 'deletePushConfig' };

/**
 * Reads a path of protocol 1.0, with a tenant before it or without. An id may have colons: only what a path ends with
 * is a verb, and only as it stands, so that an encoded colon belongs to the id.
 */
export function matchRest(method: string, path: string): RestMatch | { readonly miss: RestMiss } {
  const parts = path.split('/').filter((part) => part !== '');
  const [head = ''] = parts;
  const tenant = ROOTS.has(head) ? undefined : parts.shift();
  const found = resolve(parts);
  if (found === undefined) return { miss: undefined };
  const operation = Object.hasOwn(found.byMethod, method) ? found.byMethod[method] : undefined;
  if (operation === undefined) return { miss: { allow: Object.keys(found.byMethod) } };
  const decoded = [tenant ?? '', found.taskId, found.configId].map(decode);
  const [tenantId, taskId, configId] = decoded;
  if (tenantId === undefined || taskId === undefined || configId === undefined) return { miss: undefined };
  return { operation, tenant: tenant === undefined ? undefined : tenantId, taskId, configId };
}

interface Resource {
  readonly byMethod: ByMethod;
  readonly taskId: string;
  readonly configId: string;
}

function resolve([root = '', task, collection, config, ...more]: readonly string[]): Resource | undefined {
  if (more.length > 0) return undefined;
  if (task === undefined) {
    const byMethod = Object.hasOwn(FIXED, root) ? FIXED[root] : undefined;
    return byMethod === undefined ? undefined : { byMethod, taskId: '', configId: '' };
  }
  if (root !== 'tasks') return undefined;
  if (collection === undefined) return taskResource(task);
  if (collection !== 'pushNotificationConfigs') return undefined;
  return { byMethod: config === undefined ? CONFIGS : CONFIG, taskId: task, configId: config ?? '' };
}

function taskResource(task: string): Resource {
  for (const [verb, byMethod] of VERBS) {
    if (task.length > verb.length && task.endsWith(verb)) {
      return { byMethod, taskId: task.slice(0, -verb.length), configId: '' };
    }
  }
  return { byMethod: TASK, taskId: task, configId: '' };
}

function decode(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}
