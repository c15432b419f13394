import { refusal, renderText } from './support/render.js';

const REFUSED: readonly [what: string, values: object, says: RegExp][] = [
  ['a name that is misspelt', { registry: { replica: 2 } }, /additional properties 'replica' not allowed/u],
  ['a part that does not exist', { agentC: {} }, /additional properties 'agentC' not allowed/u],
  ['a number as text', { registry: { replicas: '2' } }, /registry\/replicas/u],
  ['a negative number', { proxy: { replicas: -1 } }, /proxy\/replicas/u],
  ['a port that is none', { registry: { service: { httpPort: 70_000 } } }, /httpPort/u],
  ['a tag that moves', { jaeger: { image: { tag: 'latest' } } }, /jaeger\/image\/tag/u],
  ['a level of logs that does not exist', { logLevel: 'loud' }, /logLevel/u],
  ['a token that is too short', { registry: { auth: { joinToken: 'short' } } }, /joinToken/u],
  ['a token with a space', { agentA: { auth: { ownerToken: `${'x'.repeat(22)} ` } } }, /ownerToken/u],
  ['a password that the configuration of Redis cannot hold', { redis: { auth: { password: 'a"b' } } }, /password/u],
  ['a password in an address', { redis: { enabled: false }, externalRedis: { url: 'redis://:p@h' } }, /url/u],
  ['an id that no agent may have', { agentB: { id: 'agent b' } }, /agentB\/id/u],
  ['a provider that does not exist', { agentB: { subagentProvider: 'other' } }, /subagentProvider/u],
  ['no time to leave the endpoints', { preStopSeconds: 0 }, /preStopSeconds/u],
  ['a size without a unit that exists', { redis: { persistence: { size: '1 GB' } } }, /size/u],
  ['a variable without a value', { registry: { extraEnv: [{ name: 'A' }] } }, /extraEnv/u],
  ['a variable with two values', { registry: { extraEnv: [{ name: 'A', value: 'a', valueFrom: {} }] } }, /extraEnv/u],
  ['a budget that lets nobody go', { registry: { podDisruptionBudget: { maxUnavailable: 0 } } }, /maxUnavailable/u],
  ['an Ingress to what is no service', ingressTo('redis'), /service/u],
  ['a sentinel without a port', { externalRedis: { sentinel: { nodes: ['a'] } } }, /sentinel\/nodes/u],
];

/** What a schema cannot say. */
const CONTRADICTIONS: readonly [what: string, values: object, says: RegExp][] = [
  ['two Redis', { externalRedis: { host: 'redis' } }, /choose one of them/u],
  ['two ways to the Redis outside', outside({ host: 'a', url: 'redis://b' }), /only one of url, host/u],
  ['sentinels without a name', outside({ sentinel: { nodes: ['a:1'], masterName: '' } }), /masterName/u],
  ['several registries that share nothing', { redis: { enabled: false } }, /registry with more than one replica/u],
  ['several agents that share nothing', alone({ agentB: { replicas: 3 } }), /agentB with more than one replica/u],
  ['agents that may become several', alone({ agentA: scaling(1, 3) }), /agentA with more than one replica/u],
  ['less than the least', { registry: scaling(5, 3) }, /minReplicas is above maxReplicas/u],
  ['a collector without a place to send to', { jaeger: { enabled: false } }, /exportEndpoint/u],
  ['too little time to stop', { preStopSeconds: 20 }, /at least preStopSeconds \+ 30/u],
  ['a key without a model', { openai: { apiKey: 'key' } }, /openai\.model/u],
  ['two agents of one id', { agentA: { id: 'agent_B' } }, /must differ/u],
];

function ingressTo(service: string): object {
  return { ingress: { hosts: [{ host: 'a', paths: [{ path: '/', service }] }] } };
}

function outside(externalRedis: object): object {
  return { redis: { enabled: false }, externalRedis };
}

function alone(values: object): object {
  return { redis: { enabled: false }, registry: { replicas: 1 }, ...values };
}

function scaling(minReplicas: number, maxReplicas: number): object {
  return { autoscaling: { enabled: true, minReplicas, maxReplicas } };
}

describe('values are refused', () => {
  it.each(REFUSED)('%s', (_what, values, says) => {
    expect(refusal(values)).toMatch(says);
  });

  it.each(CONTRADICTIONS)('that contradict each other: %s', (_what, values, says) => {
    expect(refusal(values)).toMatch(says);
  });
});

describe('values are taken', () => {
  it.each([
    ['a registry alone', alone({})],
    ['replicas that are not running', { agentA: { replicas: 0 } }],
    ['a share of pods that may go', { registry: { podDisruptionBudget: { maxUnavailable: '50%' } } }],
    [
      'a sentinel at an address of the sixth version',
      outside({ sentinel: { masterName: 'm', nodes: ['[::1]:26379'] } }),
    ],
  ])('%s', (_what, values) => {
    expect(renderText({ values })).toContain('kind: Deployment');
  });
});
