// `npm run bench -- registry [--sizes 1000,10000,100000] [--seconds 3] [--repeat 3] [--peer FOLDER]`
import { run as registry } from './registry.mjs';

const BENCHES = { registry };
const [name, ...rest] = process.argv.slice(2);
const bench = BENCHES[name ?? 'registry'];
if (bench === undefined) {
  console.error(`There is no benchmark called ${name}. There is: ${Object.keys(BENCHES).join(', ')}.`);
  process.exit(2);
}
await bench(rest);
