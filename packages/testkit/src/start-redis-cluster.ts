import { freePort } from './free-port.js';
import { REPLICATION, startRedis, type RedisServer } from './start-redis.js';
import { eventually } from './wait-for.js';

export interface StartRedisClusterOptions {
  /** Default 3; fewer cannot replace one that dies. */
  readonly masters?: number;
  /** Of each master. Default 0. */
  readonly replicas?: number;
  /** A node that is silent for so long is taken for dead. Default 1,000. */
  readonly nodeTimeoutMs?: number;
  /** Clients come over TLS, to which `addresses` and `env` lead; what is asked here does not. Files in PEM. */
  readonly tls?: { readonly certFile: string; readonly keyFile: string };
}

export interface RedisCluster {
  readonly nodes: readonly RedisServer[];
  /** The variables by which a service finds it. */
  readonly env: Readonly<Record<string, string>>;
  readonly addresses: readonly { readonly host: string; readonly port: number }[];
  slotOf(key: string): Promise<number>;
  /** Which node serves a key now, by what most nodes say. */
  ownerOf(key: string): Promise<RedisServer>;
  /** Another master than the one given, by what that one says. */
  anotherMaster(than: RedisServer): Promise<RedisServer>;
  /** Which node replicates a master; undefined: none. */
  replicaOf(master: RedisServer): Promise<RedisServer | undefined>;
  /**
   * Moves the slot of a key, key by key, to another master, as `redis-cli --cluster reshard` does.
   * @returns how many keys there were
   */
  moveSlot(key: string, to: RedisServer, options?: MoveOptions): Promise<number>;
}

export interface MoveOptions {
  /** How many keys go in one step. Default 100. */
  readonly batch?: number;
  /** Called between two steps, while some keys are here and others there. */
  readonly between?: () => Promise<void>;
}

const SLOTS = 16_384;

/** A real cluster on 127.0.0.1, serving all slots when the promise settles. Ended at the end of the test file. */
export async function startRedisCluster(options: StartRedisClusterOptions = {}): Promise<RedisCluster> {
  const { masters = 3, replicas = 0, tls } = options;
  const tlsPorts = new Map<RedisServer, number>();
  const start = async (): Promise<RedisServer> => {
    const tlsPort = await freePort();
    const node = await startNode(options, tlsPort);
    if (tls !== undefined) tlsPorts.set(node, tlsPort);
    return node;
  };
  const nodes = await Promise.all(Array.from({ length: masters * (1 + replicas) }, start));
  const [first, ...others] = nodes;
  if (first === undefined) throw new Error('a cluster needs a node');
  for (const node of others) await meet(first, node);
  await Promise.all(nodes.slice(0, masters).map((node, index) => addSlots(node, index, masters)));
  await eventually(() => Promise.all(nodes.map((node) => knows(node, nodes.length))), {
    timeoutMs: 15_000,
    what: 'the nodes of the cluster to know each other',
  });
  for (const [index, node] of nodes.slice(masters).entries()) {
    const master = nodes[index % masters];
    if (master !== undefined) await node.cli('CLUSTER', 'REPLICATE', await idOf(master));
  }
  const cluster = controls(nodes, tlsPorts);
  await eventually(() => Promise.all(nodes.map((node) => isWhole(node, masters * replicas))), {
    timeoutMs: 20_000,
    what: 'the cluster to serve all slots',
  });
  return cluster;
}

async function startNode(
  { nodeTimeoutMs = 1_000, tls }: StartRedisClusterOptions,
  tlsPort: number,
): Promise<RedisServer> {
  // By default it would be 10,000 above, which is beyond the last port for many free ones.
  const busPort = await freePort();
  return startRedis({
    extraArgs: [
      ...['--cluster-enabled', 'yes', '--cluster-node-timeout', String(nodeTimeoutMs)],
      ...['--cluster-port', String(busPort), '--cluster-config-file', 'nodes.conf'],
      ...REPLICATION,
      ...(tls === undefined ? [] : tlsArgs(tls, tlsPort)),
    ],
  });
}

function tlsArgs({ certFile, keyFile }: NonNullable<StartRedisClusterOptions['tls']>, port: number): string[] {
  return [
    ...['--tls-port', String(port), '--tls-cluster', 'yes', '--tls-auth-clients', 'no'],
    ...['--tls-cert-file', certFile, '--tls-key-file', keyFile, '--tls-ca-cert-file', certFile],
  ];
}

async function meet(first: RedisServer, node: RedisServer): Promise<void> {
  const [line = ''] = await nodesOf(node);
  const busPort = /@(\d+)/u.exec(line)?.[1] ?? '';
  await first.cli('CLUSTER', 'MEET', '127.0.0.1', String(node.port), busPort);
}

async function addSlots(node: RedisServer, index: number, masters: number): Promise<void> {
  const from = Math.floor((SLOTS * index) / masters);
  const to = Math.floor((SLOTS * (index + 1)) / masters) - 1;
  await node.cli('CLUSTER', 'ADDSLOTSRANGE', String(from), String(to));
}

/** One line of each node that a node knows. */
async function nodesOf(node: RedisServer): Promise<string[]> {
  return String(await node.cli('CLUSTER', 'NODES'))
    .trim()
    .split('\n');
}

async function knows(node: RedisServer, count: number): Promise<void> {
  const lines = await nodesOf(node);
  const known = lines.filter((line) => line.includes(' connected') && !line.includes('handshake'));
  if (known.length !== count) throw new Error(`a node knows ${String(known.length)} of ${String(count)} nodes`);
}

async function isWhole(node: RedisServer, replicas: number): Promise<void> {
  const info = String(await node.cli('CLUSTER', 'INFO'));
  if (!info.includes('cluster_state:ok')) throw new Error('the cluster is not ok');
  if (!info.includes(`cluster_slots_ok:${String(SLOTS)}`)) throw new Error('not all slots are served');
  const known = (await nodesOf(node)).filter((line) => line.includes('slave')).length;
  if (known !== replicas) throw new Error(`a node knows ${String(known)} of ${String(replicas)} replicas`);
  const replication = String(await node.cli('INFO', 'replication'));
  if (replication.includes('role:slave') && !replication.includes('master_link_status:up')) {
    throw new Error('a replica has not got the data yet');
  }
}

async function idOf(node: RedisServer): Promise<string> {
  return String(await node.cli('CLUSTER', 'MYID'));
}

function controls(nodes: readonly RedisServer[], tlsPorts: ReadonlyMap<RedisServer, number>): RedisCluster {
  const addresses = nodes.map((node) => ({ host: '127.0.0.1', port: tlsPorts.get(node) ?? node.port }));
  const slotOf = async (key: string): Promise<number> => Number(await anyOf(nodes, 'CLUSTER', 'KEYSLOT', key));
  const nodeAt = (port: number | undefined): RedisServer | undefined => nodes.find((node) => node.port === port);
  const ownerOf = async (key: string): Promise<RedisServer> => {
    const slot = await slotOf(key);
    const votes = new Map<RedisServer, number>();
    const said = await Promise.allSettled(nodes.map(rangesOf));
    for (const one of said) {
      if (one.status === 'rejected') continue;
      const owner = nodeAt(one.value.find(({ from, to }) => slot >= from && slot <= to)?.port);
      if (owner !== undefined) votes.set(owner, (votes.get(owner) ?? 0) + 1);
    }
    const [best] = [...votes].sort(([, a], [, b]) => b - a);
    if (best === undefined) throw new Error(`nobody serves slot ${String(slot)}`);
    return best[0];
  };
  return {
    nodes,
    addresses,
    env: {
      REDIS_CLUSTER_NODES: addresses.map(({ host, port }) => `${host}:${String(port)}`).join(','),
      ...(tlsPorts.size === 0 ? {} : { REDIS_TLS: 'true' }),
    },
    slotOf,
    ownerOf,
    anotherMaster: async (than) => {
      const masters = (await rangesOf(than)).map(({ port }) => nodeAt(port));
      const found = masters.find((node) => node !== undefined && node !== than);
      if (found === undefined) throw new Error('there is no other master');
      return found;
    },
    replicaOf: async (master) => {
      const text = String(await master.cli('CLUSTER', 'REPLICAS', await idOf(master)));
      const [, port] = /:(\d+)@/u.exec(text) ?? [];
      return nodeAt(Number(port));
    },
    moveSlot: async (key, to, { batch = 100, between } = {}) => {
      const slot = String(await slotOf(key));
      const from = await ownerOf(key);
      const [fromId, toId] = await Promise.all([idOf(from), idOf(to)]);
      await to.cli('CLUSTER', 'SETSLOT', slot, 'IMPORTING', fromId);
      await from.cli('CLUSTER', 'SETSLOT', slot, 'MIGRATING', toId);
      let moved = 0;
      for (;;) {
        const keys = (await from.cli('CLUSTER', 'GETKEYSINSLOT', slot, String(batch))) as string[];
        if (keys.length === 0) break;
        await from.cli('MIGRATE', '127.0.0.1', String(to.port), '', '0', '5000', 'KEYS', ...keys);
        moved += keys.length;
        await between?.();
      }
      // The new owner first: were it the last to know, nobody would serve the slot for a moment.
      for (const node of [to, from, ...nodes.filter((one) => one !== to && one !== from)]) {
        await node.cli('CLUSTER', 'SETSLOT', slot, 'NODE', toId).catch((error: unknown) => {
          if (node === to || node === from) throw error;
        });
      }
      return moved;
    },
  };
}

interface SlotRange {
  readonly from: number;
  readonly to: number;
  /** Of the master that serves them. */
  readonly port: number;
}

async function rangesOf(node: RedisServer): Promise<SlotRange[]> {
  const said = (await node.cli('CLUSTER', 'SLOTS')) as [number, number, [string, number]][];
  return said.map(([from, to, [, port]]) => ({ from, to, port }));
}

async function anyOf(nodes: readonly RedisServer[], ...args: string[]): Promise<unknown> {
  return Promise.any(nodes.map((node) => node.cli(...args)));
}
