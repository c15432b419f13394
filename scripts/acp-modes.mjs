#!/usr/bin/env node
/**
 * What becomes of a run with an agent that behaves in every way there is, right and wrong, as a table in Markdown:
 * `node scripts/acp-modes.mjs [--only WORD]` (built before: `make build`).
 * Exit code 1 when something was not as it should be, above all when a process was left.
 */
import { parseArgs } from 'node:util';
import { AcpSubagentProvider } from '@parley/acp';
import { MODES } from '../packages/acp/src/testing/modes/index.mjs';
import { runMode } from '../packages/acp/src/testing/run-mode.mjs';
import { useProjectNode } from './lib/workspace.mjs';

useProjectNode();

const { values } = parseArgs({ options: { only: { type: 'string', default: '' } } });
const unexpected = [];
let runs = 0;
let left = 0;

console.log('| about | mode | result | ms | processes at the result | processes left |');
console.log('|---|---|---|---:|---:|---:|');
for (const [about, modes] of Object.entries(MODES)) {
  for (const mode of modes.filter(({ name }) => `${about} ${name}`.includes(values.only))) {
    const run = await runMode(mode, (options) => new AcpSubagentProvider(options));
    runs += 1;
    left += run.left;
    const { name, outcome, ms, aliveAtResult } = run;
    console.log(`| ${about} | ${name} | ${outcome} | ${Math.round(ms)} | ${aliveAtResult} | ${run.left} |`);
    unexpected.push(...run.unexpected.map((what) => `${about}, ${name}: ${what}`));
  }
}

console.log(`\n${runs} modes, ${left} processes left, ${unexpected.length} unexpected`);
for (const what of unexpected) console.log(`- ${what}`);
process.exitCode = unexpected.length === 0 ? 0 : 1;
