import { badBodies, oddValues, type HttpCase } from '@parley/testkit';

const good = { agent_id: 'bad-input', name: 'n', endpoint: 'http://127.0.0.1:9', capabilities: ['translate'] };
const proposal = { session_id: 's', agent_id: 'caller', capabilities: ['translate'] };
const long = (length: number): string => 'x'.repeat(length);
const many = (count: number): string[] => Array.from({ length: count }, (_, i) => `c${String(i)}`);

function post(path: string, wrong: string, body: unknown, at?: string, status?: number): HttpCase {
  return {
    wrong,
    method: 'POST',
    path,
    body,
    ...(at === undefined ? {} : { at }),
    ...(status === undefined ? {} : { status }),
  };
}

function get(path: string, wrong: string, at?: string, status?: number): HttpCase {
  return {
    wrong,
    method: 'GET',
    path,
    ...(at === undefined ? {} : { at }),
    ...(status === undefined ? {} : { status }),
  };
}

export const REGISTER_CASES: readonly HttpCase[] = [
  ...badBodies('POST', '/register'),
  ...(['agent_id', 'name', 'endpoint', 'capabilities'] as const).map((field) =>
    post('/register', `no ${field}`, { ...good, [field]: undefined }, field),
  ),
  ...(['agent_id', 'name', 'endpoint'] as const).flatMap((field) =>
    oddValues.map(([what, value]) => post('/register', `${field} is ${what}`, { ...good, [field]: value }, field)),
  ),
  ...[null, 7, true, 'translate'].map((value) =>
    post('/register', `capabilities is ${String(value)}`, { ...good, capabilities: value }, 'capabilities'),
  ),
  ...['', ' ', '-a', '.a', 'a b', 'a/b', 'ä', 'a\u0000', 'a\n', long(129), '<script>'].map((value) =>
    post('/register', `agent_id ${JSON.stringify(value).slice(0, 20)}`, { ...good, agent_id: value }, 'agent_id'),
  ),
  ...['', long(201), 'a\u0000b', 'a\u001bb'].map((value) =>
    post('/register', `name ${JSON.stringify(value).slice(0, 20)}`, { ...good, name: value }, 'name'),
  ),
  ...[
    '', 'x', '/relative', '//host', 'ftp://host', 'file:///etc/passwd', 'javascript:alert(1)', 'http://', 'http://user@host',
    'http://user:pw@host', 'http://host/#part', 'http://ho st', 'http://host\n', 'http://[::1', 'http://host:99999', `http://host/${long(2_048)}`,
  ].map((value) => post('/register', `endpoint ${JSON.stringify(value).slice(0, 24)}`, { ...good, endpoint: value }, 'endpoint')), // prettier-ignore
  ...['', ' ', 'a b', 'a,b', 'a@1', 'ü', long(65)].map((value) =>
    post(
      '/register',
      `capability ${JSON.stringify(value).slice(0, 20)}`,
      { ...good, capabilities: ['ok', value] },
      'capabilities[1]',
    ),
  ),
  post('/register', 'no capability', { ...good, capabilities: [] }, 'capabilities'),
  post('/register', '65 capabilities', { ...good, capabilities: many(65) }, 'capabilities'),
  post('/register', 'an empty map of capabilities', { ...good, capabilities: {} }, 'capabilities'),
  post(
    '/register',
    'a map with a wrong version',
    { ...good, capabilities: { a: { version: '1' } } },
    'capabilities.a.version',
  ),
  post(
    '/register',
    'a map with an unknown detail',
    { ...good, capabilities: { a: { colour: 'red' } } },
    'capabilities.a.colour',
  ),
  post(
    '/register',
    'a detail of another capability',
    { ...good, capability_details: { b: {} } },
    'capability_details.b',
  ),
  ...[0, -1, 3_601, 1.5, '30', null].map((value) =>
    post('/register', `ttl_seconds ${String(value)}`, { ...good, ttl_seconds: value }, 'ttl_seconds'),
  ),
  post('/register', 'a label that is a number', { ...good, labels: { a: 1 } }, 'labels.a'),
  post(
    '/register',
    '33 labels',
    { ...good, labels: Object.fromEntries(many(33).map((name) => [name, 'x'])) },
    'labels',
  ),
  post('/register', 'labels as a list', { ...good, labels: ['a'] }, 'labels'),
  post('/register', 'metadata over 16 KiB', { ...good, metadata: { a: long(17_000) } }, 'metadata'),
  post('/register', 'metadata as text', { ...good, metadata: 'x' }, 'metadata'),
  post(
    '/register',
    'a wrong interface',
    { ...good, interfaces: [{ protocol: 'a2a', version: '1', url: 'x' }] },
    'interfaces[0].url',
  ),
  post(
    '/register',
    'an interface without protocol',
    { ...good, interfaces: [{ version: '1', url: 'http://x' }] },
    'interfaces[0].protocol',
  ),
  post('/register', 'an unknown field', { ...good, capabilites: ['a'] }, 'capabilites'),
  ...parameterCases(),
  {
    wrong: 'a short owner token',
    method: 'POST',
    path: '/register',
    body: good,
    headers: { authorization: 'Bearer short' },
  },
  {
    wrong: 'another scheme',
    method: 'POST',
    path: '/register',
    body: good,
    headers: { authorization: 'Basic eDp5' },
    status: 401,
  },
];

function parameterCases(): HttpCase[] {
  const at = 'capability_details.translate.parameters.p';
  const schema = (value: unknown): unknown => ({
    ...good,
    capability_details: { translate: { parameters: { p: value } } },
  });
  return [
    post('/register', 'a parameter without type', schema({}), `${at}.type`),
    post('/register', 'a parameter of type object', schema({ type: 'object' }), `${at}.type`),
    post(
      '/register',
      'a minimum above the maximum',
      schema({ type: 'number', minimum: 2, maximum: 1 }),
      `${at}.minimum`,
    ),
    post(
      '/register',
      'no integer in between',
      schema({ type: 'integer', minimum: 1.2, maximum: 1.8 }),
      `${at}.minimum`,
    ),
    post('/register', 'a minimum of a string', schema({ type: 'string', minimum: 1 }), `${at}.type`),
    post('/register', 'a broken pattern', schema({ type: 'string', pattern: '(' }), `${at}.pattern`),
    post('/register', 'a pattern with a look-behind', schema({ type: 'string', pattern: '(?<=a)b' }), `${at}.pattern`),
    post('/register', 'a default out of bounds', schema({ type: 'number', maximum: 1, default: 2 }), `${at}.default`),
    post('/register', 'a default of another type', schema({ type: 'string', default: 2 }), `${at}.default`),
    post('/register', 'an enum of another type', schema({ type: 'string', enum: ['a', 1] })),
    post('/register', 'an unknown keyword', schema({ type: 'string', format: 'date' }), `${at}.format`),
  ];
}

export const DISCOVER_CASES: readonly HttpCase[] = [
  ...badBodies('POST', '/discover'),
  get('/discover', 'no capabilities', 'capabilities'),
  get('/discover?capabilities=', 'blank capabilities', 'capabilities[0]'),
  get('/discover?capabilities=%20', 'a blank', 'capabilities[0]'),
  get('/discover?capabilities=a,,b', 'a gap', 'capabilities[1]'),
  get('/discover?capabilities=a%20b', 'a space inside', 'capabilities[0]'),
  get('/discover?capabilities=a@', 'an empty range', 'capabilities[0]'),
  get('/discover?capabilities=a@nope', 'no range', 'capabilities[0]'),
  get('/discover?capabilities=%3Cscript%3E', 'a tag', 'capabilities[0]'),
  get(`/discover?capabilities=${many(65).join(',')}`, '65 capabilities', 'capabilities'),
  get('/discover?capability=a', 'a misspelt name', 'capability'),
  ...['0', '-1', '1.5', 'ten', '', '1e3', '99999999999999999999'].map((value) =>
    get(`/discover?capabilities=a&limit=${value}`, `limit ${value}`, 'limit'),
  ),
  get('/discover?capabilities=a&limit=1&limit=2', 'limit twice', 'limit'),
  ...['', 'x', 'e30', 'eyJvIjoicmFuZG9tIn0', long(2_000)].map((value) =>
    get(`/discover?capabilities=a&cursor=${value}`, `cursor ${value.slice(0, 10)}`, 'cursor'),
  ),
  ...['', 'size', 'ID'].map((value) => get(`/discover?capabilities=a&order=${value}`, `order ${value}`, 'order')),
  ...['yes', '2', ''].map((value) => get(`/discover?capabilities=a&explain=${value}`, `explain ${value}`, 'explain')),
  get('/discover?capabilities=a&labels=x', 'a label without value', 'labels'),
  get('/discover?capabilities=a&labels=:x', 'a label without name', 'labels'),
  get('/discover?capabilities=a&exclude=a%20b', 'a wrong id', 'exclude[0]'),
  post('/discover', 'a text as list', { required_capabilities: 'a' }, 'required_capabilities'),
  post('/discover', 'an empty list', { required_capabilities: [] }, 'required_capabilities'),
  post('/discover', 'a number in the list', { required_capabilities: [1] }, 'required_capabilities[0]'),
  post('/discover', 'an unknown field', { required_capabilities: ['a'], sort: 'id' }, 'sort'),
  post('/discover', 'a limit as text', { required_capabilities: ['a'], limit: '10' }, 'limit'),
  post('/discover', 'labels as list', { required_capabilities: ['a'], labels: [] }, 'labels'),
];

export const NEGOTIATE_CASES: readonly HttpCase[] = [
  ...badBodies('POST', '/negotiate'),
  ...(['session_id', 'agent_id', 'capabilities'] as const).map((field) =>
    post('/negotiate', `no ${field}`, { ...proposal, [field]: undefined }, field),
  ),
  ...(['session_id', 'agent_id'] as const).flatMap((field) =>
    oddValues.map(([what, value]) => post('/negotiate', `${field} is ${what}`, { ...proposal, [field]: value }, field)),
  ),
  post('/negotiate', 'a long session_id', { ...proposal, session_id: long(129) }, 'session_id'),
  post('/negotiate', 'no capability', { ...proposal, capabilities: [] }, 'capabilities'),
  post('/negotiate', 'a wrong range', { ...proposal, capabilities: ['a@nope'] }, 'capabilities[0]'),
  post('/negotiate', 'parameters as list', { ...proposal, parameters: [] }, 'parameters'),
  post('/negotiate', 'an object as parameter', { ...proposal, parameters: { a: {} } }, 'parameters.a'),
  post('/negotiate', 'null as parameter', { ...proposal, parameters: { a: null } }, 'parameters.a'),
  ...['accept', 'decline', 'withdraw', 'dance'].map((action) =>
    post('/negotiate', `action ${action}`, { ...proposal, action }, 'action'),
  ),
  post('/negotiate', 'a short proof_hash', { ...proposal, proof_hash: 'abc' }, 'proof_hash'),
  post('/negotiate', 'an offer', { ...proposal, offer_id: 'x' }, 'offer_id'),
  post('/negotiate', 'via', { ...proposal, via: 'registry' }, 'via'),
  post('/negotiate', 'nine candidates', { ...proposal, max_candidates: 9 }, 'max_candidates'),
  post('/negotiate', 'no candidate', { ...proposal, max_candidates: 0 }, 'max_candidates'),
  post('/negotiate', 'another strategy', { ...proposal, strategy: 'best' }, 'strategy'),
  post('/negotiate', 'a long wait', { ...proposal, candidate_timeout_ms: 15_001 }, 'candidate_timeout_ms'),
  post('/negotiate', 'a wrong target', { ...proposal, target_agent_id: 'a b' }, 'target_agent_id'),
  post('/negotiate', 'an unknown target', { ...proposal, target_agent_id: 'nobody' }, undefined, 404),
  post('/negotiate', 'an unknown field', { ...proposal, colour: 'red' }, 'colour'),
  post('/negotiate', 'a long message', { ...proposal, message: long(1_001) }, 'message'),
  post('/negotiate', 'a ttl of zero', { ...proposal, agreement_ttl_seconds: 0 }, 'agreement_ttl_seconds'),
];

export const OTHER_CASES: readonly HttpCase[] = [
  ...badBodies('POST', '/agreements'),
  get('/agents?limit=0', 'limit 0', 'limit'),
  get('/agents?capabilities=a', 'a parameter of another route', 'capabilities'),
  get('/agents?cursor=x', 'a broken cursor', 'cursor'),
  get('/agents/a%20b', 'a wrong id', 'agent_id'),
  get('/agents/%E0%A4%A', 'a broken escape'),
  get('/agents/unknown', 'an unknown id', undefined, 404),
  get('/agreements?state=happy', 'an unknown state', 'state'),
  get('/agreements?limit=-1', 'a negative limit', 'limit'),
  get('/agreements/unknown', 'an unknown agreement', undefined, 404),
  get('/watch?after_revision=x', 'a revision that is none', 'after_revision'),
  get('/watch?agent_ids=a%20b', 'a wrong id', 'agent_ids[0]'),
  get('/watch?agents=a', 'an unknown parameter', 'agents'),
  { ...get('/watch', 'a broken Last-Event-ID', 'Last-Event-ID'), headers: { 'last-event-id': 'abc' } },
  get('/nowhere', 'no such path', undefined, 404),
  get('/register', 'the wrong method', undefined, 405),
  { wrong: 'the wrong method', method: 'PATCH', path: '/agents/a', status: 405 },
  { wrong: 'the wrong method', method: 'DELETE', path: '/discover', status: 405 },
  { wrong: 'no token', method: 'DELETE', path: '/agents/a', status: 401 },
  {
    wrong: 'an unknown agent',
    method: 'DELETE',
    path: '/agents/a',
    headers: { authorization: `Bearer ${long(30)}` },
    status: 404,
  },
  { wrong: 'no token', method: 'PUT', path: '/agents/a/lease', status: 401 },
  {
    wrong: 'an unknown lease',
    method: 'PUT',
    path: '/agents/a/lease',
    headers: { authorization: `Bearer ${long(30)}` },
    status: 404,
  },
  {
    wrong: 'a wrong id',
    method: 'PUT',
    path: '/agents/-/lease',
    headers: { authorization: `Bearer ${long(30)}` },
    at: 'agent_id',
  },
];
