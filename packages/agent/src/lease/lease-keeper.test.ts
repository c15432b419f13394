import { AppError, silentLogger, type Logger } from '@parley/service-kit';
import type { RegisterOptions, RegisterResponse } from '../registry-client/index.js';
import { LeaseKeeper, type LeaseKeeperOptions } from './lease-keeper.js';
import type { LeaseEvent } from './lease-state.js';

const { jest } = import.meta;

const LEASE = { ttl_seconds: 30, expires_at: '2030-01-01T00:00:00.000Z', renew_every_seconds: 10 };
const MANIFEST = { agent_id: 'agent_A', name: 'A', endpoint: 'http://a:1', capabilities: ['x'] };

const away = (): AppError => new AppError('unavailable', 'away', { code: 'store_unavailable' });
const unknown = (): AppError => new AppError('not_found', 'unknown', { code: 'lease_unknown' });
const taken = (): AppError => new AppError('conflict', 'taken', { code: 'agent_id_taken' });

/** A registry that answers what the test says, and writes down when it was asked. */
class Registry {
  readonly target = 'http://registry';
  readonly asked: { what: string; at: number; ownerToken: string | undefined }[] = [];
  registerFails: (() => Error) | undefined;
  renewFails: (() => Error) | undefined;
  answersNothing = false;
  ownerToken: string | undefined;

  register = (_: unknown, options: RegisterOptions): Promise<RegisterResponse> =>
    this.#answer('register', options.ownerToken, options.signal, this.registerFails, {
      agent_id: 'agent_A',
      lease: LEASE,
      revision: 1,
      replaced: false,
      ...(this.ownerToken === undefined ? {} : { owner_token: this.ownerToken }),
    });
  renew = (_: string, options: { ownerToken: string; signal: AbortSignal }): Promise<typeof LEASE> =>
    this.#answer('renew', options.ownerToken, options.signal, this.renewFails, LEASE);
  deregister = (_: string, options: { ownerToken: string; signal: AbortSignal; timeoutMs?: number }): Promise<void> => {
    const late = this.answersNothing ? timeout(options.timeoutMs ?? 60_000) : options.signal;
    return this.#answer('deregister', options.ownerToken, late, undefined, undefined);
  };

  #answer<T>(
    what: string,
    ownerToken: string | undefined,
    signal: AbortSignal,
    fails: (() => Error) | undefined,
    value: T,
  ): Promise<T> {
    this.asked.push({ what, at: Date.now(), ownerToken });
    if (this.answersNothing) {
      return new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          reject(new AppError('cancelled', 'given up'));
        });
      });
    }
    return fails === undefined ? Promise.resolve(value) : Promise.reject(fails());
  }

  count(what: string): number {
    return this.asked.filter((one) => one.what === what).length;
  }
  times(what: string): number[] {
    return this.asked.filter((one) => one.what === what).map(({ at }) => at);
  }
}

/** By the faked timers; `AbortSignal.timeout` is not. */
function timeout(ms: number): AbortSignal {
  const controller = new AbortController();
  setTimeout(() => {
    controller.abort();
  }, ms);
  return controller.signal;
}

interface Kept {
  readonly registry: Registry;
  readonly keeper: LeaseKeeper;
  readonly events: LeaseEvent[];
  readonly errors: string[];
  readonly pass: (ms: number) => Promise<void>;
}

function keep(options: Partial<LeaseKeeperOptions> = {}): Kept {
  const registry = new Registry();
  const events: LeaseEvent[] = [];
  const errors: string[] = [];
  const logger: Logger = { ...silentLogger, error: (message) => errors.push(message), child: () => logger };
  const keeper = new LeaseKeeper({
    client: registry,
    manifest: MANIFEST,
    logger,
    random: () => 0.5,
    onEvent: (event) => events.push(event),
    ...options,
  });
  keepers.push(keeper);
  return { registry, keeper, events, errors, pass: (ms) => jest.advanceTimersByTimeAsync(ms) };
}

const keepers: LeaseKeeper[] = [];

beforeEach(() => {
  jest.useFakeTimers({ now: 1_000_000 });
});
afterEach(async () => {
  const stopping = Promise.all(keepers.splice(0).map((keeper) => keeper.stop()));
  await jest.advanceTimersByTimeAsync(2_000);
  await stopping;
  jest.useRealTimers();
});

describe('a lease', () => {
  it('is renewed at a third of its length, give or take a tenth', async () => {
    let draw = 0;
    const { registry, keeper, pass } = keep({ random: () => draw });
    await keeper.start();
    await pass(9_001);
    expect(registry.count('renew')).toBe(1);
    draw = 0.999_999;
    await pass(9_001);
    expect(registry.count('renew')).toBe(2);
    await pass(10_900);
    expect(registry.count('renew')).toBe(2);
    await pass(101);
    expect(registry.count('renew')).toBe(3);
    expect(keeper.state).toMatchObject({ kind: 'held', ttlSeconds: 30 });
  });

  it('is asked for with one secret, made here, so that a lost answer does not lock the agent out', async () => {
    const { registry, keeper, pass } = keep();
    registry.registerFails = () => new AppError('deadline_exceeded', 'late', { code: 'peer_timeout' });
    const first = keeper.start();
    await pass(1_000);
    registry.registerFails = undefined;
    await pass(10_000);
    await first;
    const tokens = new Set(registry.asked.map(({ ownerToken }) => ownerToken));
    expect(tokens).toEqual(new Set([keeper.ownerToken]));
    expect(keeper.ownerToken.length).toBeGreaterThanOrEqual(43);
  });

  it('uses the configured secret, or the one that the registry made', async () => {
    const configured = keep({ ownerToken: 'configured-owner-token' });
    await configured.keeper.start();
    expect(configured.registry.asked[0]?.ownerToken).toBe('configured-owner-token');
    const made = keep();
    made.registry.ownerToken = 'made-by-the-registry';
    await made.keeper.start();
    await made.pass(10_000);
    expect(made.registry.asked.at(-1)).toMatchObject({ what: 'renew', ownerToken: 'made-by-the-registry' });
  });

  it('that is unknown is registered in full at once, and never revived by a renewal', async () => {
    const { registry, keeper, events, pass } = keep();
    await keeper.start();
    registry.renewFails = unknown;
    await pass(10_000);
    expect(registry.asked.map(({ what }) => what)).toEqual(['register', 'renew', 'register']);
    expect(registry.asked[2]?.at).toBe(registry.asked[1]?.at);
    expect(events.map(({ type }) => type)).toEqual(['registered', 'lost', 'registered']);
  });

  it('that belongs to somebody else now is asked for again', async () => {
    const { registry, keeper, pass, errors } = keep();
    await keeper.start();
    registry.renewFails = () => new AppError('forbidden', 'not yours', { code: 'not_owner' });
    registry.registerFails = taken;
    await pass(60_000);
    expect(registry.count('renew')).toBe(1);
    expect(registry.count('register')).toBeGreaterThan(5);
    expect(errors.some((line) => line.includes('agent_A is held by somebody else'))).toBe(true);
    registry.registerFails = undefined;
    await pass(10_000);
    expect(keeper.state.kind).toBe('held');
  });

  it('is kept while the store is away: no registration, tries before it ends, one loud line', async () => {
    const { registry, keeper, events, errors, pass } = keep();
    await keeper.start();
    registry.renewFails = away;
    await pass(29_999);
    expect(registry.count('register')).toBe(1);
    expect(keeper.state.kind).toBe('late');
    const tries = registry.times('renew');
    expect(tries.length).toBeGreaterThanOrEqual(5);
    // The last try comes close to the end of the lease.
    expect(Math.max(...tries)).toBeGreaterThan(1_000_000 + 27_000);
    expect(errors).toHaveLength(1);
    // Over by our clock: the registry may have spared it, so it is asked before anything else.
    await pass(20_000);
    expect(registry.count('register')).toBe(1);
    registry.renewFails = undefined;
    await pass(10_000);
    expect(keeper.state.kind).toBe('held');
    expect(events.map(({ type }) => type)).toEqual(['registered', 'late', 'renewed']);
  });
});

describe('a registration', () => {
  it('is tried for ever, with growing pauses that are capped, and loud once', async () => {
    const { registry, keeper, errors, pass } = keep({ random: () => 1 });
    registry.registerFails = () => new AppError('unavailable', 'nobody', { code: 'peer_unreachable' });
    const first = keeper.start();
    await pass(120_000);
    const pauses = registry.times('register').map((at, index, all) => at - (all[index - 1] ?? at));
    expect(pauses.slice(1, 8)).toEqual([200, 400, 800, 1_600, 3_200, 6_400, 10_000]);
    expect(Math.max(...pauses)).toBe(10_000);
    expect(errors).toHaveLength(1);
    registry.registerFails = undefined;
    await pass(10_000);
    await first;
  });

  it('waits for an id that is taken, loudly, as after a crash', async () => {
    const { registry, keeper, events, errors, pass } = keep();
    registry.registerFails = taken;
    const first = keeper.start();
    await pass(30_000);
    expect(events.every(({ type }) => type === 'taken')).toBe(true);
    expect(errors.length).toBe(registry.count('register'));
    registry.registerFails = undefined;
    await pass(10_000);
    await first;
  });

  it('is given up only when the registry refuses for good', async () => {
    const { registry, keeper, pass } = keep();
    registry.registerFails = () => new AppError('invalid_request', 'endpoint: wrong');
    await expect(keeper.start()).rejects.toMatchObject({ reason: 'invalid_request' });
    await pass(60_000);
    expect(registry.count('register')).toBe(1);
    expect(keeper.state.kind).toBe('stopped');
  });

  it('is not given up once it was good, whatever the registry says later', async () => {
    const { registry, keeper, pass } = keep();
    await keeper.start();
    registry.renewFails = unknown;
    registry.registerFails = () => new AppError('forbidden', 'join token');
    await pass(60_000);
    registry.registerFails = undefined;
    registry.renewFails = undefined;
    await pass(10_000);
    expect(keeper.state.kind).toBe('held');
  });
});

describe('an agent whose own health check fails', () => {
  it('leaves the registry, and comes back when it is healthy', async () => {
    let healthy = true;
    const { registry, keeper, events, pass } = keep({ healthCheck: () => healthy, healthIntervalMs: 1_000 });
    await keeper.start();
    await pass(3_000);
    expect(registry.count('deregister')).toBe(0);
    healthy = false;
    await pass(1_000);
    expect(registry.count('deregister')).toBe(1);
    expect(keeper.state.kind).toBe('unhealthy');
    await pass(60_000);
    expect([registry.count('renew'), registry.count('register'), registry.count('deregister')]).toEqual([0, 1, 1]);
    healthy = true;
    await pass(1_000);
    expect(keeper.state.kind).toBe('held');
    expect(events.map(({ type }) => type)).toEqual(['registered', 'unhealthy', 'healthy', 'registered']);
  });

  it('also when the check throws or does not answer', async () => {
    const throwing = keep({ healthCheck: () => Promise.reject(new Error('broken')) });
    void throwing.keeper.start().catch(() => undefined);
    await throwing.pass(100);
    expect(throwing.registry.count('register')).toBe(0);
    const hanging = keep({ healthCheck: () => new Promise<boolean>(() => undefined) });
    void hanging.keeper.start().catch(() => undefined);
    await hanging.pass(2_100);
    expect(hanging.keeper.state.kind).toBe('unhealthy');
  });
});

describe('stopping', () => {
  it('deregisters', async () => {
    const { registry, keeper, events } = keep();
    await keeper.start();
    await keeper.stop();
    await keeper.stop();
    expect(registry.asked.map(({ what }) => what)).toEqual(['register', 'deregister']);
    expect(events.at(-1)).toEqual({ type: 'stopped' });
  });

  it('leaves the registration to others who keep it, when told so', async () => {
    const { registry, keeper, events, pass } = keep();
    await keeper.start();
    await keeper.stop({ deregister: false });
    await pass(60_000);
    expect(registry.asked.map(({ what }) => what)).toEqual(['register']);
    expect(events.at(-1)).toEqual({ type: 'stopped' });
  });

  it('takes a second at most, and tries even when the answer to the registration never came', async () => {
    const { registry, keeper, pass } = keep();
    registry.answersNothing = true;
    const first = keeper.start().catch((error: unknown) => error);
    await pass(10);
    const stopped = keeper.stop();
    await pass(1_000);
    await stopped;
    expect(registry.asked.map(({ what }) => what)).toEqual(['register', 'deregister']);
    expect(await first).toMatchObject({ reason: 'cancelled' });
  });

  it('leaves no timer behind', async () => {
    const { keeper } = keep();
    await keeper.start();
    await keeper.stop();
    expect(jest.getTimerCount()).toBe(0);
  });
});
