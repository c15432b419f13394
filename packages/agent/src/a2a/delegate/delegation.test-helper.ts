import { AppError } from '@parley/service-kit';
import { onTestsEnd } from '@parley/testkit';
import { FakeRegistry } from '../../../test-support/fake-registry.js';
import { Agent } from '../../agent/index.js';
import type { AgreementGate } from '../agreement/index.js';
import { connectA2a } from '../client/index.js';
import { createDelegate, type DelegateOptions } from './create-delegate.js';
import type { DelegateRequest } from './delegate.js';
import { startPartner, type Partner, type PartnerOptions, type Wire, type Work } from './partners.test-helper.js';

export const done: Work = (_request, reporter) => {
  reporter.working('reading');
  reporter.artifact({ artifactId: 'r', name: 'review', parts: [{ kind: 'text', text: 'fine' }] });
  return { state: 'completed', text: 'done' };
};

export interface Setting {
  readonly main: Agent;
  readonly registry: FakeRegistry;
  partner(agentId: string, work: Work, options?: Partial<PartnerOptions>): Promise<Partner>;
  /** Delegates with `first` asked before all others. */
  run(
    request?: Partial<DelegateRequest>,
    options?: Partial<DelegateOptions>,
  ): ReturnType<ReturnType<typeof createDelegate>>;
}

/** An agent that hands work on, a registry, and as many partners as a test wants. */
export async function setting(first = 'one'): Promise<Setting> {
  const registry = await new FakeRegistry().start();
  onTestsEnd(() => registry.stop());
  const main = new Agent({
    manifest: { agentId: 'main', endpoint: 'http://127.0.0.1:1', capabilities: ['code_review'] },
  });
  onTestsEnd(() => main.stop());
  const negotiateFirst: Agent['negotiateFirst'] = (url, names, wanted, options) =>
    main.negotiateFirst(url, names, wanted, { ...options, prefer: [first] });
  return {
    main,
    registry,
    partner: (agentId, work, options = {}) => startPartner(agentId, { work, registryUrl: registry.url, ...options }),
    run: (request = {}, options = {}) =>
      createDelegate({ agent: { negotiateFirst }, registryUrl: registry.url, ...options })({
        capability: 'code_review@^1',
        parts: [{ kind: 'text', text: 'look' }],
        parameters: {},
        hops: 0,
        signal: new AbortController().signal,
        ...request,
      }),
  };
}

/** Speaks with an agent over a wire that can be cut. */
export function over(wire: Wire): Required<DelegateOptions>['connect'] {
  return async ({ endpoint }, signal) => {
    const direct = await connectA2a({ url: endpoint, signal });
    await direct.close();
    const supportedInterfaces = direct.card.supportedInterfaces
      .filter(({ protocolBinding, protocolVersion }) => protocolBinding === 'JSONRPC' && protocolVersion === '1.0')
      .map((one) => ({ ...one, url: one.url.replace(new URL(one.url).origin, wire.url) }));
    return connectA2a({ card: { ...direct.card, supportedInterfaces }, signal });
  };
}

/** Why the agreement that the partner kept has ended. */
export const endOf = async ({ agent }: Partner): Promise<string | undefined> => {
  const { agreements } = await agent.keeper.list({});
  return agreements[0]?.end_reason;
};

/** Says neither yes nor no, until the tests are over. */
export function silentGate(onAdmit: () => void = () => undefined): () => AgreementGate {
  const over = Promise.withResolvers<never>();
  onTestsEnd(() => {
    over.reject(new AppError('unavailable', 'The test is over.'));
  });
  over.promise.catch(() => undefined);
  return () => ({
    admit: () => {
      onAdmit();
      return over.promise;
    },
  });
}
