// An agent on stdio that does what its argument says, a MockScript in JSON, right or wrong. It judges every byte that it
// reads by itself: no ACP library is in it, and it runs with plain Node.
import { MockAgent } from './mock/agent.mjs';

const script = JSON.parse(process.argv[2] ?? '{}');
const agent = new MockAgent(script);
if (script.term !== undefined) process.on('SIGTERM', () => agent.terminated());
if (script.stays === true) setInterval(() => undefined, 60_000);

let rest = Buffer.alloc(0);
process.stdin.on('data', (chunk) => {
  rest = Buffer.concat([rest, chunk]);
  for (let end = rest.indexOf(10); end !== -1; end = rest.indexOf(10)) {
    const line = rest.subarray(0, end);
    rest = rest.subarray(end + 1);
    agent.line(line);
  }
});
process.stdin.on('end', () => agent.ended(rest));
process.stdin.on('error', () => undefined);
// The reader may be gone; what the script does next is up to the script.
process.stdout.on('error', () => undefined);
agent.start();
