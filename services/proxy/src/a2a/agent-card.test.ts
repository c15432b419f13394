import { startProxy, stopProxies } from '../proxy.test-helper.js';

afterEach(stopProxies);

/** What clients have seen of such agents, letter by letter. */
const CARD = [
  '{"capabilities":{"extensions":[{"description":"Set or read agent configuration.","params":{"endpoint',
  '":"/ext/agent-config","methods":{"set":{"method":"POST","request":{"supported":["description","name"',
  ',"role","system_prompt","timeout_seconds"],"schema":{"additionalProperties":false,"properties":{"nam',
  'e":{"anyOf":[{"type":"string"},{"type":"null"}],"title":"Name"},"description":{"anyOf":[{"type":"str',
  'ing"},{"type":"null"}],"title":"Description"},"role":{"anyOf":[{"type":"string"},{"type":"null"}],"t',
  'itle":"Role"},"timeout_seconds":{"title":"Timeout Seconds","type":"integer"},"system_prompt":{"anyOf',
  '":[{"type":"string"},{"type":"null"}],"title":"System Prompt"}},"title":"ProxyConfig","type":"object',
  '"}}},"get":{"method":"GET","response":{"required":["config"]}}}},"uri":"urn:agentenv:agent-config/v1',
  '"},{"description":"Register MCP servers the agent should use.","params":{"endpoint":"/ext/mcp-config',
  '","methods":{"add":{"method":"POST","request":{"required":["url"],"optional":["headers","name"]}},"l',
  'ist":{"method":"GET","response":{"required":["mcp_servers"]}}}},"uri":"urn:agentenv:mcp-config/v1"},',
  '{"description":"Retrieve an agent trajectory.","params":{"endpoint":"/ext/trajectory","methods":{"ge',
  't":{"method":"POST","request":{"oneOf":[{"required":["task_id"]},{"required":["task_id","objects"]},',
  '{"required":["context_id"]},{"required":["context_id","objects"]},{"required":["task_id","after"],"o',
  'ptional":["limit"]},{"required":["context_id","after"],"optional":["limit"]}]}}}},"uri":"urn:agenten',
  'v:trajectory/v1"},{"description":"Hand the agent\'s turns to a driver outside its sandbox, and run th',
  'e driver\'s actions where the agent works.","params":{"endpoint":"/ext/proxy","methods":{"claim":{"me',
  'thod":"POST","endpoint":"/ext/proxy/claim","request":{"required":["token"]}},"next":{"method":"POST"',
  ',"endpoint":"/ext/proxy/next","request":{"required":["token"],"optional":["after"]},"response":{"req',
  'uired":["version","turns"]}},"tools":{"method":"POST","endpoint":"/ext/proxy/tools","request":{"requ',
  'ired":["token","task_id"]},"response":{"required":["tools"]}},"act":{"method":"POST","endpoint":"/ex',
  't/proxy/act","request":{"required":["token","task_id","action_id","action"]},"response":{"required":',
  '["done"],"optional":["result"]}},"result":{"method":"POST","endpoint":"/ext/proxy/result","request":',
  '{"required":["token","action_id"]},"response":{"required":["done"],"optional":["result"]}},"record":',
  '{"method":"POST","endpoint":"/ext/proxy/record","request":{"required":["token","task_id","message"],',
  '"optional":["model","usage"]}},"reply":{"method":"POST","endpoint":"/ext/proxy/reply","request":{"re',
  'quired":["token","task_id"],"optional":["parts","error"]}}}},"uri":"urn:agentenv:proxy/v1"},{"descri',
  'ption":"Register skills made available to the agent.","params":{"endpoint":"/ext/skill-config","meth',
  'ods":{"add":{"method":"POST","request":{"required":["name","description"],"oneOf":[{"required":["ski',
  'll_md"]},{"required":["skill_bundle"]}]},"response":{"required":["name"]}},"list":{"method":"GET","r',
  'esponse":{"required":["skills"]}}}},"uri":"urn:agentenv:skill-config/v1"}],"pushNotifications":false',
  ',"stateTransitionHistory":false,"streaming":false},"defaultInputModes":["text"],"defaultOutputModes"',
  ':["text"],"description":"An agent played from outside AgentEnv: a driver answers its turns.","name":',
  '"agentenv-proxy","preferredTransport":"JSONRPC","protocolVersion":"0.3.0","skills":[],"url":"/a2a","',
  'version":"1.0.0"}',
].join('');

it('is the card that clients know, the same at both paths, and follows the configuration', async () => {
  const proxy = await startProxy();
  const paths = ['/.well-known/agent.json', '/.well-known/agent-card.json'];
  for (const path of paths) {
    const { text, headers } = await proxy.ask(path);
    expect(text).toBe(CARD);
    expect(headers['content-type']).toBe('application/json');
  }
  await proxy.post('/ext/agent-config', { name: 'n', description: 'é' });
  await proxy.post('/ext/skill-config', { name: 's', description: 'd', skill_md: 'x' });
  const [old, current] = await Promise.all(paths.map(async (path) => (await proxy.ask(path)).text));
  expect(current).toBe(old);
  const renamed = CARD.replace('An agent played from outside AgentEnv: a driver answers its turns.', 'é')
    .replace('"agentenv-proxy"', '"n"')
    .replace('"skills":[]', '"skills":[{"description":"d","id":"skill-s","name":"s","tags":["skill"]}]');
  expect(old).toBe(renamed);
});
