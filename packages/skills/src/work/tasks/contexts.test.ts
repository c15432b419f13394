import { MemorySessionStorage } from '@parley/harness';
import { Contexts, type ContextsOptions, type LivingContext } from './contexts.js';

const NEVER = new AbortController().signal;

function contextsOf(options: Partial<ContextsOptions> = {}): Contexts {
  return new Contexts({ newSessions: () => new MemorySessionStorage(), ...options });
}

/** A turn that ends when it is told to. */
function heldTurn() {
  let open = (): void => undefined;
  const until = new Promise<void>((resolve) => (open = resolve));
  return { turn: () => until, open: () => open() };
}

const identity = (context: LivingContext): Promise<LivingContext> => Promise.resolve(context);

describe('turns of contexts', () => {
  it('of one come one after the other, in order, and share what it remembers', async () => {
    const contexts = contextsOf();
    const log: string[] = [];
    const turn = (name: string) => async (context: LivingContext) => {
      log.push(`${name} begins`);
      await new Promise((resolve) => setImmediate(resolve));
      log.push(`${name} ends`);
      return context;
    };
    const [a, b, c] = await Promise.all(['a', 'b', 'c'].map((name) => contexts.run('one', NEVER, turn(name))));
    expect(log).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
    expect(b).toBe(a);
    expect(c).toBe(a);
  });

  it('of different ones go on side by side', async () => {
    const contexts = contextsOf();
    const held = heldTurn();
    const first = contexts.run('one', NEVER, held.turn);
    await expect(contexts.run('two', NEVER, () => Promise.resolve('done'))).resolves.toBe('done');
    held.open();
    await first;
  });

  it('go on behind one that failed', async () => {
    const contexts = contextsOf();
    const failing = contexts.run('one', NEVER, () => Promise.reject(new Error('no')));
    const next = contexts.run('one', NEVER, () => Promise.resolve('done'));
    await expect(failing).rejects.toThrow('no');
    await expect(next).resolves.toBe('done');
  });

  it('wait in a line with an end', async () => {
    const contexts = contextsOf({ maxWaiting: 1 });
    const held = heldTurn();
    const running = contexts.run('one', NEVER, held.turn);
    const waiting = contexts.run('one', NEVER, () => Promise.resolve('done'));
    await expect(contexts.run('one', NEVER, identity)).rejects.toMatchObject({
      reason: 'too_many_requests',
      code: 'context_busy',
    });
    held.open();
    await running;
    await expect(waiting).resolves.toBe('done');
  });

  it('leave the line when they are aborted, without a trace at their signal', async () => {
    const contexts = contextsOf({ maxWaiting: 1 });
    const held = heldTurn();
    const running = contexts.run('one', NEVER, held.turn);
    const caller = new AbortController();
    const waiting = contexts.run('one', caller.signal, identity);
    const reason = new Error('gone');
    caller.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    const next = contexts.run('one', NEVER, () => Promise.resolve('done'));
    held.open();
    await running;
    await expect(next).resolves.toBe('done');
  });

  it('leave no listener at a signal that lives on', async () => {
    const contexts = contextsOf();
    const { signal } = new AbortController();
    let listeners = 0;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...args: Parameters<typeof add>) => ((listeners += 1), add(...args));
    signal.removeEventListener = (...args: Parameters<typeof remove>) => ((listeners -= 1), remove(...args));
    const held = heldTurn();
    const running = contexts.run('one', signal, held.turn);
    const waiting = contexts.run('one', signal, identity);
    expect(listeners).toBe(1);
    held.open();
    await Promise.all([running, waiting]);
    expect(listeners).toBe(0);
  });
});

describe('what is remembered of contexts', () => {
  it('is bounded in number: the longest unused goes first', async () => {
    const contexts = contextsOf({ maxContexts: 2 });
    const one = await contexts.run('one', NEVER, identity);
    const two = await contexts.run('two', NEVER, identity);
    expect(await contexts.run('one', NEVER, identity)).toBe(one);
    await contexts.run('three', NEVER, identity);
    expect(contexts.size).toBe(2);
    expect(await contexts.run('one', NEVER, identity)).toBe(one);
    expect(await contexts.run('two', NEVER, identity)).not.toBe(two);
  });

  it('is kept while it is at work, and no more is taken on than fits', async () => {
    const contexts = contextsOf({ maxContexts: 1 });
    const held = heldTurn();
    const running = contexts.run('one', NEVER, held.turn);
    await expect(contexts.run('two', NEVER, identity)).rejects.toMatchObject({ code: 'too_many_contexts' });
    held.open();
    await running;
    await expect(contexts.run('two', NEVER, identity)).resolves.toBeDefined();
  });

  it('is forgotten when nobody used it for long', async () => {
    let now = 0;
    const contexts = contextsOf({ idleMs: 100, now: () => now });
    const one = await contexts.run('one', NEVER, identity);
    now = 100;
    expect(await contexts.run('one', NEVER, identity)).toBe(one);
    now = 201;
    expect(await contexts.run('one', NEVER, identity)).not.toBe(one);
    now = 500;
    await contexts.run('two', NEVER, identity);
    expect(contexts.size).toBe(1);
  });

  it('is bounded in characters over all', async () => {
    const contexts = contextsOf({ maxChars: 100 });
    const fill = (context: LivingContext): Promise<void> => {
      context.materials.add({ name: 'a', text: 'x'.repeat(60), mediaType: 'text/plain', isResult: false });
      return Promise.resolve();
    };
    await contexts.run('one', NEVER, fill);
    expect(contexts.size).toBe(1);
    await contexts.run('two', NEVER, fill);
    expect(contexts.size).toBe(1);
    expect((await contexts.run('two', NEVER, identity)).materials.names).toEqual(['a']);
  });
});
