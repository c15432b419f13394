// A child that misbehaves as its environment says, behind a handshake that is in order.
import { createInterface } from 'node:readline';

const mode = process.env.OTEL_ODD_MODE ?? '';
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const say = (text) =>
  send({
    method: 'session/update',
    params: { sessionId: 's', update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } } },
  });

if (mode === 'dies at once') process.exit(3);
if (mode === 'never speaks') setInterval(() => undefined, 1_000);
else {
  const answers = {
    initialize: { protocolVersion: 1, agentCapabilities: {} },
    'session/new': { sessionId: 's' },
  };
  const ways = {
    'dies in the middle': () => process.exit(7),
    'is killed': () => process.kill(process.pid, 'SIGKILL'),
    'never answers': () => say('one moment'),
    'is busy for ever': () => {
      for (;;);
    },
    'answers in words': (id) => {
      say('It looks fine to me.');
      send({ id, result: { stopReason: 'end_turn' } });
    },
    'answers something else': (id) => {
      say(JSON.stringify({ output: { findings: 'many' } }));
      send({ id, result: { stopReason: 'end_turn' } });
    },
    'tells its environment': (id) => {
      const message = JSON.stringify(process.env);
      say(JSON.stringify({ error: { reason: 'conflict', code: 'environment', message, errors: [] } }));
      send({ id, result: { stopReason: 'end_turn' } });
    },
    refuses: (id) => send({ id, result: { stopReason: 'refusal' } }),
  };
  createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method } = JSON.parse(line);
    if (method in answers) send({ id, result: answers[method] });
    else if (method === 'session/prompt') ways[mode](id);
  });
}
