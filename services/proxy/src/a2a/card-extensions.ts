import type { JsonObject } from '../domain/facts.js';

interface OperationShape {
  readonly required: readonly string[];
  readonly optional?: readonly string[];
  readonly answers?: { readonly required: readonly string[]; readonly optional?: readonly string[] };
}

/** What the wire asks of every proxy; what this one has besides is not on the card. */
const PROXY_OPERATIONS: Readonly<Record<string, OperationShape>> = {
  claim: { required: ['token'] },
  next: { required: ['token'], optional: ['after'], answers: { required: ['version', 'turns'] } },
  tools: { required: ['token', 'task_id'], answers: { required: ['tools'] } },
  act: {
    required: ['token', 'task_id', 'action_id', 'action'],
    answers: { required: ['done'], optional: ['result'] },
  },
  result: { required: ['token', 'action_id'], answers: { required: ['done'], optional: ['result'] } },
  record: { required: ['token', 'task_id', 'message'], optional: ['model', 'usage'] },
  reply: { required: ['token', 'task_id'], optional: ['parts', 'error'] },
};

function proxyMethods(): JsonObject {
  const entries = Object.entries(PROXY_OPERATIONS).map(([name, { required, optional, answers }]) => [
    name,
    {
      method: 'POST',
      endpoint: `/ext/proxy/${name}`,
      request: { required, ...(optional !== undefined && { optional }) },
      ...(answers !== undefined && { response: answers }),
    },
  ]);
  return Object.fromEntries(entries) as JsonObject;
}

const TEXT_OR_NULL = [{ type: 'string' }, { type: 'null' }];

const CONFIG_SCHEMA: JsonObject = {
  additionalProperties: false,
  properties: {
    name: { anyOf: TEXT_OR_NULL, title: 'Name' },
    description: { anyOf: TEXT_OR_NULL, title: 'Description' },
    role: { anyOf: TEXT_OR_NULL, title: 'Role' },
    timeout_seconds: { title: 'Timeout Seconds', type: 'integer' },
    system_prompt: { anyOf: TEXT_OR_NULL, title: 'System Prompt' },
  },
  title: 'ProxyConfig',
  type: 'object',
};

/** In the order, and with the members, that the framework reads. */
export const EXTENSIONS: readonly JsonObject[] = [
  {
    description: 'Set or read agent configuration.',
    params: {
      endpoint: '/ext/agent-config',
      methods: {
        set: {
          method: 'POST',
          request: {
            supported: ['description', 'name', 'role', 'system_prompt', 'timeout_seconds'],
            schema: CONFIG_SCHEMA,
          },
        },
        get: { method: 'GET', response: { required: ['config'] } },
      },
    },
    uri: 'urn:agentenv:agent-config/v1',
  },
  {
    description: 'Register MCP servers the agent should use.',
    params: {
      endpoint: '/ext/mcp-config',
      methods: {
        add: { method: 'POST', request: { required: ['url'], optional: ['headers', 'name'] } },
        list: { method: 'GET', response: { required: ['mcp_servers'] } },
      },
    },
    uri: 'urn:agentenv:mcp-config/v1',
  },
  {
    description: 'Retrieve an agent trajectory.',
    params: {
      endpoint: '/ext/trajectory',
      methods: {
        get: {
          method: 'POST',
          request: {
            oneOf: [
              { required: ['task_id'] },
              { required: ['task_id', 'objects'] },
              { required: ['context_id'] },
              { required: ['context_id', 'objects'] },
              { required: ['task_id', 'after'], optional: ['limit'] },
              { required: ['context_id', 'after'], optional: ['limit'] },
            ],
          },
        },
      },
    },
    uri: 'urn:agentenv:trajectory/v1',
  },
  {
    description:
      "Hand the agent's turns to a driver outside its sandbox, and run the driver's actions where the agent works.",
    params: { endpoint: '/ext/proxy', methods: proxyMethods() },
    uri: 'urn:agentenv:proxy/v1',
  },
  {
    description: 'Register skills made available to the agent.',
    params: {
      endpoint: '/ext/skill-config',
      methods: {
        add: {
          method: 'POST',
          request: {
            required: ['name', 'description'],
            oneOf: [{ required: ['skill_md'] }, { required: ['skill_bundle'] }],
          },
          response: { required: ['name'] },
        },
        list: { method: 'GET', response: { required: ['skills'] } },
      },
    },
    uri: 'urn:agentenv:skill-config/v1',
  },
];
