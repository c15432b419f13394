import type { TestNamespace } from './cluster.js';

export interface Pod {
  readonly metadata: {
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: string;
  };
  readonly status: {
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
    readonly containerStatuses?: readonly { readonly restartCount: number }[];
  };
}

/** Of a release, or of one of its services; those that are going too. */
export function podsOf(namespace: TestNamespace, release: string, component?: string): Promise<readonly Pod[]> {
  const one = component === undefined ? '' : `,app.kubernetes.io/component=${component}`;
  return namespace.list<Pod>('pods', '--selector', `app.kubernetes.io/instance=${release}${one}`);
}

export function isReady({ status }: Pod): boolean {
  return status.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') ?? false;
}

export function restartsOf({ status }: Pod): number {
  return (status.containerStatuses ?? []).reduce((sum, { restartCount }) => sum + restartCount, 0);
}

/** Until all pods are ready, and none is going any more. */
export async function untilSettled(namespace: TestNamespace, release: string): Promise<void> {
  const going = (await podsOf(namespace, release)).filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
  if (going.length > 0) {
    const names = going.map(({ metadata }) => `pod/${metadata.name}`);
    await namespace.kubectl('wait', ...names, '--for', 'delete', '--timeout', '60s');
  }
  const selector = `app.kubernetes.io/instance=${release}`;
  await namespace.kubectl('wait', 'pod', '--selector', selector, '--for', 'condition=Ready', '--timeout', '120s');
}

/** One metric of a pod, summed over its labels. */
export async function metricOf(namespace: TestNamespace, pod: string, port: number, name: string): Promise<number> {
  const script = `fetch('http://127.0.0.1:${port}/metrics').then((r) => r.text()).then((t) => console.log(t))`;
  const text = await namespace.kubectl('exec', pod, '--', 'node', '--eval', script);
  return text
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}
