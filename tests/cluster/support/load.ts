import { join } from 'node:path';
import type { TestNamespace } from './cluster.js';

/** What the load counted; see send-load.mjs. */
export interface LoadResult {
  readonly requests: number;
  readonly failed: number;
  readonly perSecond: number;
  readonly longestMs: number;
  /** The longest time in which no answer at all came. */
  readonly longestPauseMs: number;
  /** How often each failure was met. */
  readonly failures: Readonly<Record<string, number>>;
}

export interface Load {
  /** Sends nothing more, waits for the answers and counts. */
  stop(): Promise<LoadResult>;
}

const SCRIPT = join(import.meta.dirname, 'send-load.mjs');

/** Starts a pod that asks the Services of a release, `rate` requests a second, and waits for its first answers. */
export async function startLoad(namespace: TestNamespace, release: string, rate: number): Promise<Load> {
  const name = `load-${String(Date.now())}`;
  await namespace.kubectl('create', 'configmap', name, `--from-file=load.mjs=${SCRIPT}`);
  const labels = { 'app.kubernetes.io/component': 'load' };
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels },
    spec: {
      restartPolicy: 'Never',
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        {
          name: 'load',
          image: 'parley/agent-a:0.1.0',
          command: ['node', '/load/load.mjs'],
          env: [
            { name: 'NAME', value: release },
            { name: 'RATE', value: String(rate) },
          ],
          securityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
          },
          // Above those of the services: a load that waits for a processor measures itself.
          resources: { requests: { cpu: '500m' } },
          readinessProbe: { exec: { command: ['test', '-e', '/tmp/answered'] }, periodSeconds: 1 },
          volumeMounts: [
            { name: 'load', mountPath: '/load' },
            { name: 'tmp', mountPath: '/tmp' },
          ],
        },
      ],
      volumes: [
        { name: 'load', configMap: { name } },
        { name: 'tmp', emptyDir: {} },
      ],
    },
  };
  await namespace.apply(pod);
  await namespace.kubectl('wait', 'pod', name, '--for', 'condition=Ready', '--timeout', '60s');
  return {
    stop: async () => {
      await namespace.kubectl('exec', name, '--', 'sh', '-c', 'kill 1');
      await namespace.kubectl('wait', 'pod', name, '--for', 'jsonpath={.status.phase}=Succeeded', '--timeout', '60s');
      const lines = (await namespace.kubectl('logs', name)).trim().split('\n');
      await namespace.kubectl('delete', 'pod', name, '--now');
      return JSON.parse(lines.at(-1) ?? '') as LoadResult;
    },
  };
}
