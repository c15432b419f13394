import { Command } from 'ioredis';
import { askRedis } from './ask-redis.js';
import { newestAnswer, type MasterClaim } from './newest-answer.js';
import { formatAddress, type ClusterRedis, type ServerAddress } from './redis-target.js';
import { LOCATE_TIMEOUT_MS, type ServerLocator } from './server-locator.js';

/** Asked at once; a large cluster is asked in turns. */
const MAX_ASKED = 6;
const MAX_LEARNED = 64;
/** A node that is cut off from the others goes on to answer CLUSTERDOWN, and does not know who took its place. */
const RECHECK_MS = 5_000;

interface ClusterView {
  readonly nodes: readonly ServerAddress[];
  readonly owner: MasterClaim | undefined;
}

/** The master that serves the slot of a hash tag, by what the nodes of the cluster say. */
export function locateInCluster(target: ClusterRedis, hashTag: string): ServerLocator {
  const { clusterNodes, username, password, tls = false } = target;
  const options = { username, password, tls, timeoutMs: LOCATE_TIMEOUT_MS };
  const known = new Map(clusterNodes.map((node) => [formatAddress(node), node]));
  const slot = new Command('get', [`{${hashTag}}`]).getSlot();
  let turn = 0;
  let redirectedTo: ServerAddress | undefined;

  const askNode = (node: ServerAddress): Promise<MasterClaim> =>
    askRedis(node, options, async (ask) => {
      const { nodes, owner } = readClusterNodes(await ask('CLUSTER', 'NODES'), slot, node, tls);
      for (const one of nodes) if (known.size < MAX_LEARNED) known.set(formatAddress(one), one);
      if (owner === undefined) throw new Error(`no node of the cluster serves slot ${String(slot)} now`);
      return owner;
    });

  return {
    recheckMs: RECHECK_MS,
    redirected: (to) => {
      // It names an address, for which there may be no certificate.
      if (!tls) redirectedTo = to;
    },
    locate: () => {
      const told = redirectedTo;
      redirectedTo = undefined;
      if (told !== undefined) return Promise.resolve(told);
      const all = [...known.values()];
      const asked = [...all.slice(turn), ...all.slice(0, turn)].slice(0, MAX_ASKED);
      turn = all.length > MAX_ASKED ? (turn + MAX_ASKED) % all.length : 0;
      return newestAnswer(asked, askNode);
    },
  };
}

/**
 * Reads `CLUSTER NODES`: `<id> <ip:port@bus[,hostname]> <flags> <master> <ping> <pong> <epoch> <link> <slots>...`.
 * A certificate is for a name, so with TLS the name of a node counts where it has one.
 */
export function readClusterNodes(
  reply: unknown,
  slot: number,
  askedAt: ServerAddress,
  preferNames: boolean,
): ClusterView {
  if (typeof reply !== 'string') throw new TypeError('a node did not say which nodes there are');
  const nodes: ServerAddress[] = [];
  let owner: MasterClaim | undefined;
  for (const line of reply.split('\n')) {
    const [, place, flags = '', , , , epoch, , ...slots] = line.split(' ');
    const address = place === undefined ? undefined : readPlace(place, askedAt, preferNames);
    const has = flags.split(',');
    if (address === undefined || has.includes('fail') || has.includes('noaddr') || has.includes('handshake')) continue;
    nodes.push(address);
    if (has.includes('master') && slots.some((range) => contains(range, slot))) {
      owner = { ...address, epoch: Number(epoch) };
    }
  }
  return { nodes, owner };
}

/** A node that does not know its own address has none in what it says of itself: it is where it was asked. */
function readPlace(place: string, askedAt: ServerAddress, preferNames: boolean): ServerAddress | undefined {
  const [endpoint = '', name = ''] = place.split(',');
  const [address = ''] = endpoint.split('@');
  const colon = address.lastIndexOf(':');
  const port = Number(address.slice(colon + 1));
  if (colon < 0 || !(port > 0)) return undefined;
  const ip = address.slice(0, colon);
  return { host: preferNames && name !== '' ? name : ip === '' ? askedAt.host : ip, port };
}

/** `5460`, `0-5460`; a slot that is on its way, `[93-<-...]`, is with whom it was until it has arrived. */
function contains(range: string, slot: number): boolean {
  const [, from, to] = /^(\d+)(?:-(\d+))?$/.exec(range) ?? [];
  if (from === undefined) return false;
  return slot >= Number(from) && slot <= Number(to ?? from);
}
