// A program that starts a child and ends as its argument says, while the child is at work. First it says how many
// processes there are. What is then left of the child is looked for by whoever has started this.
import { AcpSubagentProvider } from '../client/index.js';
import { firstText, MockAgents, request } from './mock-agents.js';

const [way = 'exit', mark = '', stubborn = ''] = process.argv.slice(2);
const agents = new MockAgents(mark);
const fork = { fork: { setsid: true, trapTerm: true } };
const prompts = [[...(stubborn === '' ? [] : [fork]), { text: 'hi' }, { never: true }]];
const script = stubborn === '' ? { prompts } : { prompts, eof: [], term: [], stays: true };
const run = await new AcpSubagentProvider(agents.options(script)).start(request());
await firstText(run);
process.stdout.write(`${String(agents.live().length)}\n`, () => {
  agents.removeFolder();
  if (way === 'exit') process.exit(0);
  if (way === 'throw') throw new Error('nobody catches this');
  process.kill(process.pid, 'SIGKILL');
});
