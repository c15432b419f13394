// `node bench/harness-traces.mjs [--only NAME]` (after a build): 73 small scenarios as one JSON document.
import { parseArgs } from 'node:util';
import { play, scenarioNames } from './harness/traces/scenarios.mjs';

const { only } = parseArgs({ options: { only: { type: 'string' } } }).values;
const document = {};
for (const name of scenarioNames) {
  if (only === undefined || only === name) document[name] = await play(name);
}
console.log(JSON.stringify(document, null, 1));
