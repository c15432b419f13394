#!/usr/bin/env node
/**
 * Runs the official conformance kit (a2aproject/a2a-tck, branch 1.0-dev) against an agent:
 *
 *     node tests/conformance/run-kit.mjs --kit FOLDER --url http://127.0.0.1:9999
 *
 * Without --url it starts the conformance agent itself, without protocol 0.3: the kit asks for the card without a
 * version, and would get that of 0.3. FOLDER is a checkout in which the kit can run: `.venv/bin/python` there is used if
 * it exists, else `python3`. Without --kit (or A2A_TCK) nothing runs, and that is no failure. The last line is
 * `N passed, N failed, N skipped`; the exit code is 0 when nothing failed but what is known to, and why.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { useProjectNode } from '../../scripts/lib/workspace.mjs';

useProjectNode();

const OLDER_TEXT = 'the kit has an older text of 1.0: application/json, 415, UNIMPLEMENTED';
const CONTRADICTION = 'the kit wants ContentTypeNotSupported, and takes that very error for a failure';
/** Tests of the kit that fail although the agent does as the protocol says. */
const KNOWN_FAILURES = {
  test_error_uses_aip193_format: OLDER_TEXT,
  test_response_content_type: OLDER_TEXT,
  test_error_content_type: OLDER_TEXT,
  test_content_type_not_supported_returns_415: OLDER_TEXT,
  test_version_not_supported_returns_unimplemented: OLDER_TEXT,
  'test_must_requirement[CORE-SEND-003-grpc]': CONTRADICTION,
  'test_must_requirement[CORE-SEND-003-jsonrpc]': CONTRADICTION,
  'test_must_requirement[CORE-SEND-003-http_json]': CONTRADICTION,
};

const KIT_TIMEOUT_MS = 900_000;
const START_TIMEOUT_MS = 20_000;

const { values } = parseArgs({
  options: {
    kit: { type: 'string', default: process.env.A2A_TCK },
    url: { type: 'string' },
    transport: { type: 'string' },
  },
});

if (values.kit === undefined) {
  console.log('No folder of the official kit was given (--kit or A2A_TCK).');
  console.log('0 passed, 0 failed, 1 skipped');
  process.exit(0);
}
const kit = resolve(values.kit);
if (!existsSync(join(kit, 'run_tck.py'))) {
  console.error(`${kit} has no run_tck.py: it is no checkout of a2aproject/a2a-tck.`);
  process.exit(2);
}

const agent = values.url === undefined ? await startAgent() : undefined;
const reports = mkdtempSync(join(tmpdir(), 'parley-kit-'));
let code = 1;
try {
  const report = join(reports, 'junit.xml');
  const url = values.url ?? agent.url;
  await answers(url);
  await runKit(url, report);
  if (existsSync(report)) code = tell(readFileSync(report, 'utf8'));
  else console.error('The kit ended without a report.');
} finally {
  rmSync(reports, { recursive: true, force: true });
  await agent?.stop();
}
process.exitCode = code;

async function startAgent() {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'agent.mjs'), '--no-compat'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const stop = async () => {
    child.kill('SIGTERM');
    await exited;
  };
  const timer = setTimeout(() => child.kill('SIGKILL'), START_TIMEOUT_MS);
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      const ready = /listens on http (\d+)/.exec(line);
      if (ready !== null) return { url: `http://127.0.0.1:${ready[1]}`, stop };
    }
    throw new Error('The conformance agent ended before it was ready.');
  } finally {
    clearTimeout(timer);
  }
}

/** @throws when no agent answers: every test of the kit would say so. */
async function answers(url) {
  const response = await fetch(`${url}/.well-known/agent-card.json`, { signal: AbortSignal.timeout(5_000) });
  await response.body?.cancel();
  if (!response.ok) throw new Error(`${url} answered ${response.status} instead of an agent card.`);
}

/** The kit writes its reports into its own folder; ours is asked for beside them. */
async function runKit(url, report) {
  const own = join(kit, '.venv', 'bin', 'python');
  const python = existsSync(own) ? own : 'python3';
  const transport = values.transport === undefined ? [] : [`--transport=${values.transport}`];
  const args = ['-m', 'pytest', 'tests/compatibility/', `--sut-host=${url}`, ...transport];
  const options = { cwd: kit, stdio: ['ignore', 'ignore', 'inherit'], timeout: KIT_TIMEOUT_MS, killSignal: 'SIGKILL' };
  const child = spawn(python, [...args, '-q', '--tb=line', '-p', 'no:cacheprovider', `--junitxml=${report}`], options);
  await once(child, 'exit');
}

/** @returns the exit code. */
function tell(xml) {
  const cases = [...xml.matchAll(/<testcase\b([^>]*?)(?:\/>|>([\s\S]*?)<\/testcase>)/g)];
  const failures = cases.filter(([, , inside]) => /<(?:failure|error)\b/.test(inside ?? ''));
  const skipped = cases.filter(([, , inside]) => /<skipped\b/.test(inside ?? ''));
  let unknown = 0;
  for (const [, attributes, inside] of failures) {
    const name = attribute(attributes, 'name');
    const reason = Object.hasOwn(KNOWN_FAILURES, name) ? KNOWN_FAILURES[name] : undefined;
    if (reason === undefined) unknown += 1;
    const said = attribute(inside, 'message').split('\n')[0];
    console.log(
      `failed${reason === undefined ? '' : ' (known)'}: ${attribute(attributes, 'classname')} ${name}: ${reason ?? said}`,
    );
  }
  const passed = cases.length - failures.length - skipped.length;
  console.log(`${passed} passed, ${failures.length} failed, ${skipped.length} skipped`);
  return passed > 0 && unknown === 0 ? 0 : 1;
}

function attribute(text, name) {
  const [, value = ''] = new RegExp(`\\b${name}="([^"]*)"`).exec(text) ?? [];
  const entities = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&', '#10': '\n' };
  return value.replaceAll(/&(#?\w+);/g, (whole, entity) => entities[entity] ?? whole);
}
