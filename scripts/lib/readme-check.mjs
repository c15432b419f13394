/**
 * Runs the curl examples of README.md and compares what they answer with what is printed below them.
 *
 * In what is printed, `…` stands for anything: within a string or a line for the rest of it, in place of a value for
 * that value, as a member of an object or array for any number of further members, alone on a line for any lines.
 */
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** @typedef {{ registry: string, agentA: string, agentB: string, proxy: string, jaeger?: string | undefined }} Addresses */
/** @typedef {{ kind: 'json' | 'text', text: string }} Printed */
/** @typedef {{ line: number, script: string, status: number | undefined, printed: Printed | undefined }} Example */

const ANYTHING = '…';
/** The addresses as the README prints them. */
const PRINTED = {
  registry: 'http://127.0.0.1:8000',
  agentA: 'http://127.0.0.1:8001',
  agentB: 'http://127.0.0.1:8002',
  proxy: 'http://127.0.0.1:8003',
  jaeger: 'http://127.0.0.1:16686',
};
const EXAMPLE_MS = 30_000;
/** What another process has to hear of first may be a moment behind: reads are repeated for so long. */
const SETTLE_MS = 10_000;
const PAUSE_MS = 100;

/**
 * Checks every example against a running system, in order and in one shell: variables live on from one to the next.
 * @param {Addresses} addresses base URLs; without `jaeger` the examples that ask it are left out
 * @param {{ path?: string }} [options]
 * @returns {Promise<{ checked: number, leftOut: number }>}
 * @throws {Error} naming every example that answers otherwise
 */
export async function checkReadme(addresses, { path = join(import.meta.dirname, '..', '..', 'README.md') } = {}) {
  const examples = readExamples(await readFile(path, 'utf8'));
  if (examples.length === 0) throw new Error(`${path} has no curl examples`);
  const shell = new Shell();
  const faults = [];
  let checked = 0;
  try {
    for (const example of examples) {
      if (addresses.jaeger === undefined && example.script.includes(PRINTED.jaeger)) continue;
      faults.push(...(await faultsOf(shell, example, addresses)).map((fault) => `line ${example.line}: ${fault}`));
      checked += 1;
    }
  } finally {
    shell.end();
  }
  if (faults.length > 0) throw new Error(`README.md does not hold:\n${faults.join('\n')}`);
  return { checked, leftOut: examples.length - checked };
}

/**
 * The blocks marked `sh` that call curl. Each may be followed, within the same section and before the next block of
 * that kind, by a sentence with the expected status and a block marked `json` or `text` with the output.
 * @param {string} markdown
 * @returns {Example[]}
 */
export function readExamples(markdown) {
  const examples = [];
  let current;
  for (const block of blocksOf(markdown)) {
    if (block.kind === 'heading') current = undefined;
    else if (block.kind === 'prose') {
      const status = /\b[1-5]\d\d\b/u.exec(block.text)?.[0];
      if (current !== undefined && current.printed === undefined && status !== undefined) {
        current.status ??= Number(status);
      }
    } else if (block.kind === 'sh') {
      current = undefined;
      if (!/\bcurl\b/u.test(block.text)) continue;
      current = { line: block.line, script: block.text, status: undefined, printed: undefined };
      examples.push(current);
    } else if ((block.kind === 'json' || block.kind === 'text') && current !== undefined) {
      current.printed ??= { kind: block.kind, text: block.text };
    }
  }
  return examples;
}

/** @param {string} markdown */
function blocksOf(markdown) {
  const blocks = [];
  let fence;
  for (const [index, line] of markdown.split('\n').entries()) {
    const mark = /^```(\w*)/u.exec(line);
    if (fence !== undefined) {
      if (mark === null) fence.lines.push(line);
      else {
        blocks.push({ kind: fence.kind, line: fence.line, text: fence.lines.join('\n') });
        fence = undefined;
      }
    } else if (mark !== null) fence = { kind: mark[1], line: index + 1, lines: [] };
    else if (line.startsWith('#')) blocks.push({ kind: 'heading', line: index + 1, text: line });
    else if (line.trim() !== '') blocks.push({ kind: 'prose', line: index + 1, text: line });
  }
  return blocks;
}

/** @param {Shell} shell @param {Example} example @param {Addresses} addresses */
async function faultsOf(shell, example, addresses) {
  const script = withAddresses(example.script, addresses);
  // What changes nothing may be asked again.
  const until = /\s-(?:X|d)\b/u.test(script) ? 0 : Date.now() + SETTLE_MS;
  for (;;) {
    const faults = compare(example, await shell.run(script));
    if (faults.length === 0 || Date.now() >= until) return faults;
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}

/** @param {string} script @param {Addresses} addresses */
function withAddresses(script, addresses) {
  return Object.entries(PRINTED).reduce(
    (text, [name, printed]) => text.replaceAll(printed, addresses[name] ?? printed),
    script,
  );
}

/** @param {Example} example @param {{ output: string, statuses: number[] }} answer */
function compare({ printed, status }, { output, statuses }) {
  const last = statuses.at(-1);
  const faults = [];
  if (status !== undefined && last !== undefined && last !== status)
    faults.push(`status ${last}, printed is ${status}`);
  if (status === undefined && statuses.some((one) => one < 200 || one >= 400))
    faults.push(`status ${statuses.join(', ')}`);
  if (printed === undefined) return faults;
  const differences =
    printed.kind === 'text' ? compareText(printed.text, output) : compareJsonText(printed.text, output);
  return [...faults, ...differences];
}

/** @param {string} printed @param {string} output @returns {string[]} */
function compareJsonText(printed, output) {
  let actual;
  try {
    actual = JSON.parse(output);
  } catch {
    return [`the output is no JSON: ${shorten(output)}`];
  }
  return compareJson(parsePrintedJson(printed), actual);
}

const ANY_VALUE = '\u0000value';
const FURTHER = '\u0000further';

/**
 * JSON in which `…` may stand for a value or for further members.
 * @param {string} text
 * @returns {unknown}
 */
export function parsePrintedJson(text) {
  let out = '';
  let before = '';
  const open = [];
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|\s+|./gsu)) {
    if (token === '{' || token === '[') open.push(token);
    if (token === '}' || token === ']') open.pop();
    if (token !== ANYTHING) out += token;
    else if (before === ':' || open.length === 0) out += JSON.stringify(ANY_VALUE);
    else out += open.at(-1) === '{' ? `${JSON.stringify(FURTHER)}:0` : JSON.stringify(FURTHER);
    if (token.trim() !== '') before = token;
  }
  return JSON.parse(out);
}

/**
 * Where an answer differs from what is printed, in words with the path.
 * @param {unknown} printed of {@link parsePrintedJson}
 * @param {unknown} actual
 * @returns {string[]}
 */
export function compareJson(printed, actual, path = '$') {
  if (printed === ANY_VALUE) return [];
  if (typeof printed === 'string' && printed.includes(ANYTHING)) {
    return typeof actual === 'string' && patternOf(printed).test(actual) ? [] : [differs(path, printed, actual)];
  }
  if (Array.isArray(printed)) {
    return Array.isArray(actual) ? compareArrays(printed, actual, path) : [differs(path, printed, actual)];
  }
  if (typeof printed === 'object' && printed !== null) {
    const isObject = typeof actual === 'object' && actual !== null && !Array.isArray(actual);
    return isObject ? compareObjects(printed, actual, path) : [differs(path, printed, actual)];
  }
  return Object.is(printed, actual) ? [] : [differs(path, printed, actual)];
}

/** @param {unknown[]} printed @param {unknown[]} actual @param {string} path */
function compareArrays(printed, actual, path) {
  const gap = printed.indexOf(FURTHER);
  const head = gap === -1 ? printed : printed.slice(0, gap);
  const tail = gap === -1 ? [] : printed.slice(gap + 1);
  const isLong = actual.length > head.length + tail.length;
  if (actual.length < head.length + tail.length || (gap === -1 && isLong)) {
    return [`${path} has ${actual.length} entries, printed are ${head.length + tail.length}`];
  }
  const from = actual.length - tail.length;
  return [
    ...head.flatMap((one, index) => compareJson(one, actual[index], `${path}[${index}]`)),
    ...tail.flatMap((one, index) => compareJson(one, actual[from + index], `${path}[${from + index}]`)),
  ];
}

/** @param {object} printed @param {object} actual @param {string} path */
function compareObjects(printed, actual, path) {
  const faults = [];
  for (const [name, value] of Object.entries(printed)) {
    if (name === FURTHER) continue;
    if (Object.hasOwn(actual, name)) faults.push(...compareJson(value, actual[name], `${path}.${name}`));
    else faults.push(`${path}.${name} is printed and not answered`);
  }
  if (Object.hasOwn(printed, FURTHER)) return faults;
  for (const name of Object.keys(actual)) {
    if (!Object.hasOwn(printed, name)) faults.push(`${path}.${name} is answered and not printed`);
  }
  return faults;
}

/**
 * @param {string} printed
 * @param {string} output
 * @returns {string[]}
 */
export function compareText(printed, output) {
  const lines = printed.trim().split('\n');
  const pattern = lines.map((line, index) => {
    const isLast = index === lines.length - 1;
    if (line.trim() === ANYTHING) return isLast ? '.*' : '(?:.*\\n)?';
    return `${patternOf(line, '[^\\n]*').source.slice(1, -1)}${isLast ? '' : '\\n'}`;
  });
  return new RegExp(`^${pattern.join('')}$`, 'su').test(output.trim())
    ? []
    : [`the output is not what is printed: ${shorten(output.trim())}`];
}

/** @param {string} text */
function patternOf(text, anything = '.*') {
  const literal = text.split(ANYTHING).map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|/]/gu, '\\$&'));
  return new RegExp(`^${literal.join(anything)}$`, 'su');
}

/** @param {string} path @param {unknown} printed @param {unknown} actual */
function differs(path, printed, actual) {
  return `${path} is ${shorten(JSON.stringify(actual))}, printed is ${shorten(JSON.stringify(printed))}`;
}

/** @param {string | undefined} text */
function shorten(text = 'undefined') {
  return text.length <= 300 ? text : `${text.slice(0, 300)}...`;
}

/** One shell for all examples. Each call of curl also tells its status, on standard error. */
class Shell {
  #process = spawn('sh', [], { stdio: ['pipe', 'pipe', 'pipe'], detached: true });
  #out = '';
  #errors = '';
  #calls = 0;
  #heard = () => undefined;

  constructor() {
    this.#process.stdout.setEncoding('utf8').on('data', (text) => {
      this.#out += text;
      this.#heard();
    });
    this.#process.stderr.setEncoding('utf8').on('data', (text) => {
      this.#errors += text;
      this.#heard();
    });
    this.#process.on('exit', () => this.#heard());
    this.#process.stdin.on('error', () => undefined);
    this.#process.stdin.write(`curl() { command curl -w '%{stderr}status:%{http_code}\\n' "$@"; }\n`);
  }

  /** @param {string} script */
  async run(script) {
    this.#calls += 1;
    const mark = `end-of-example-${this.#calls}`;
    this.#out = '';
    this.#errors = '';
    this.#process.stdin.write(`${script}\nwait\necho ${mark}\necho ${mark} >&2\n`);
    await this.#until(() => this.#out.includes(mark) && this.#errors.includes(mark));
    const statuses = [...this.#errors.matchAll(/^status:(\d+)$/gmu)].map(([, status]) => Number(status));
    return { output: this.#out.slice(0, this.#out.indexOf(mark)), statuses };
  }

  end() {
    this.#process.stdin.end();
    try {
      // With whatever an example left running.
      if (this.#process.pid !== undefined) process.kill(-this.#process.pid, 'SIGKILL');
    } catch {
      // It has ended by itself.
    }
  }

  /** @param {() => boolean} condition */
  async #until(condition) {
    await new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        reject(new Error(`an example takes longer than ${EXAMPLE_MS} ms:\n${this.#out}${this.#errors}`));
      }, EXAMPLE_MS);
      this.#heard = () => {
        if (condition()) {
          clearTimeout(timer);
          resolve(undefined);
        } else if (this.#process.exitCode !== null || this.#process.signalCode !== null) {
          clearTimeout(timer);
          reject(new Error(`the shell has ended:\n${this.#out}${this.#errors}`));
        }
      };
      this.#heard();
    });
  }
}
