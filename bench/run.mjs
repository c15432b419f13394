// `npm run bench -- registry [--sizes 1000,10000,100000] [--seconds 3] [--repeat 3] [--peer FOLDER]`
// `npm run bench -- a2a [--seconds 3] [--repeat 3] [--connections 16] [--streams 1000]`
// `npm run bench -- harness [--repeat 3] [--peer FOLDER]`
// `npm run bench -- acp [--repeat 11] [--children 50] [--held 8]`
// `npm run bench -- proxy [--repeat 3] [--seconds 5] [--peer FOLDER]`
import { a2a } from './a2a.mjs';
import { acp } from './acp.mjs';
import { bench as harness } from './harness.mjs';
import { proxy } from './proxy.mjs';
import { run as registry } from './registry.mjs';

const BENCHES = { registry, harness, a2a, proxy, acp };
const [name, ...rest] = process.argv.slice(2);
const bench = BENCHES[name ?? 'registry'];
if (bench === undefined) {
  console.error(`There is no benchmark called ${name}. There are ${Object.keys(BENCHES).join(', ')}.`);
  process.exit(2);
}
await bench(rest);
