import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type Context,
  context,
  type ContextManager,
  propagation,
  ROOT_CONTEXT,
  type TextMapPropagator,
  trace,
  TraceFlags,
} from '@opentelemetry/api';
import { say, type ScriptedStep } from '@parley/harness';
import { ClientLab, closeLabs } from './agent-lab.test-helper.js';

class Contexts implements ContextManager {
  readonly #storage = new AsyncLocalStorage<Context>();
  active = (): Context => this.#storage.getStore() ?? ROOT_CONTEXT;
  with: ContextManager['with'] = (active, work, self, ...args) =>
    this.#storage.run(active, () => work.call(self as ThisParameterType<typeof work>, ...args));
  bind = <T>(_context: Context, target: T): T => target;
  enable = (): this => this;
  disable = (): this => this;
}

const traceparent: TextMapPropagator = {
  fields: () => ['traceparent'],
  inject: () => undefined,
  extract: (parent, carrier, getter) => {
    const value = getter.get(carrier, 'traceparent');
    const [, traceId, spanId] = typeof value === 'string' ? value.split('-') : [];
    if (traceId === undefined || spanId === undefined) return parent;
    return trace.setSpanContext(parent, { traceId, spanId, traceFlags: TraceFlags.SAMPLED, isRemote: true });
  },
};

const TRACE_ID = 'a'.repeat(32);
const SPAN_ID = 'b'.repeat(16);

let seen: (string | undefined)[];
const step: ScriptedStep = () => {
  seen.push(trace.getSpanContext(context.active())?.spanId);
  return say('ok');
};

beforeEach(() => {
  seen = [];
});

afterEach(async () => {
  context.disable();
  propagation.disable();
  await closeLabs();
});

describe('the parent of a run', () => {
  it('is the span that the prompt names, and of its run only', async () => {
    context.setGlobalContextManager(new Contexts());
    propagation.setGlobalPropagator(traceparent);
    const lab = new ClientLab({ steps: [[step, step]] });
    const id = await lab.newSession();
    await lab.prompt(id, 'one', { traceparent: `00-${TRACE_ID}-${SPAN_ID}-01` });
    await lab.prompt(id, 'two');
    expect(seen).toEqual([SPAN_ID, undefined]);
  });

  it.each([[{ traceparent: 3 }], [{ traceparent: 'nonsense' }], [{}]])('%j does no harm', async (meta) => {
    context.setGlobalContextManager(new Contexts());
    propagation.setGlobalPropagator(traceparent);
    const lab = new ClientLab({ steps: [[step]] });
    expect(await lab.prompt(await lab.newSession(), 'one', meta)).toEqual({ stopReason: 'end_turn' });
    expect(seen).toEqual([undefined]);
  });

  it('is nothing without a tracing SDK', async () => {
    const lab = new ClientLab({ steps: [[step]] });
    const meta = { traceparent: `00-${TRACE_ID}-${SPAN_ID}-01` };
    expect(await lab.prompt(await lab.newSession(), 'one', meta)).toEqual({ stopReason: 'end_turn' });
  });
});
