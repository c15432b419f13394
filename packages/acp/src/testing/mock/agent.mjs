// The agent's side of the protocol, spoken by hand so that it can be spoken wrong.
import { closeSync } from 'node:fs';
import { setImmediate as nextRound } from 'node:timers/promises';
import { ClientJudge } from './client-judge.mjs';
import { openJournal } from './journal.mjs';
import { runSteps } from './steps.mjs';

const AGENT_INFO = { name: 'mock', version: '1.0.0' };
const INITIALIZE = [{ result: { protocolVersion: 1, agentCapabilities: {}, authMethods: [], agentInfo: AGENT_INFO } }];
const NEW_SESSION = [{ result: {} }];
const PROMPT = [{ text: 'done' }, { answer: 'end_turn' }];
const CANCEL = [];
const NO_METHOD = [{ error: { code: -32601, message: 'Method not found' } }];
const EOF = [{ exit: 0 }];

/** @typedef {import('./steps.mjs').Turn} Turn */

export class MockAgent {
  #script;
  #journal;
  #judge = new ClientJudge();
  #held;
  #nextAsk = 0;
  /** @type {Map<string, (response: any) => void>} */
  #asking = new Map();
  #outcomes = [];
  #sessions = 0;
  #prompts = 0;
  /** @type {Map<string, () => void>} what tells the open prompt of a session that it is cancelled */
  #cancels = new Map();

  /** @param {import('./script.mjs').MockScript} script */
  constructor(script) {
    this.#script = script;
    this.#journal = openJournal(script.journal);
    this.#journal('start', { cwd: process.cwd() });
    process.on('exit', (code) => this.#journal('exit', { code, unanswered: this.#judge.unanswered }));
  }

  get sessionCount() {
    return this.#sessions;
  }

  start() {
    this.run(this.#script.start ?? [], this.#turn());
  }

  /** @param {Buffer} bytes */
  line(bytes) {
    const { message, faults } = this.#judge.line(bytes);
    for (const fault of faults) this.#journal('fault', { fault });
    if (message === undefined) return;
    this.#journal('in', { message });
    if (typeof message.method !== 'string') this.#settle(message);
    else if (message.method === 'session/cancel') this.#cancel(message.params);
    else this.#serve(message);
  }

  ended(rest) {
    if (rest.length > 0) this.#journal('fault', { fault: 'the last line has no end' });
    this.#journal('eof', { unanswered: this.#judge.unanswered });
    this.run(this.#script.eof ?? EOF, this.#turn());
  }

  terminated() {
    this.#journal('term');
    this.run(this.#script.term ?? [], this.#turn());
  }

  #serve({ id, method, params }) {
    const turn = this.#turn(id, params);
    if (method === 'initialize') return this.run(this.#script.initialize ?? INITIALIZE, turn);
    if (method === 'session/new') {
      this.#sessions += 1;
      turn.sessionId = `session-${process.pid}-${this.#sessions}`;
      return this.run(this.#script.newSession ?? NEW_SESSION, turn);
    }
    if (method === 'session/prompt') return this.run(this.#nextPrompt(), this.#promptTurn(turn));
    // Asked for by those only who were told that it is there.
    if (method === 'session/close') return this.run(this.#script.closeSession ?? NO_METHOD, turn);
    return this.run(NO_METHOD, turn);
  }

  #promptTurn(turn) {
    turn.cancelled = new Promise((resolve) => this.#cancels.set(turn.sessionId, resolve));
    return turn;
  }

  #nextPrompt() {
    const { prompts = [PROMPT] } = this.#script;
    const steps = prompts[Math.min(this.#prompts, prompts.length - 1)];
    this.#prompts += 1;
    return steps;
  }

  #cancel(params) {
    this.run(this.#script.cancel ?? CANCEL, this.#turn(undefined, params));
    this.#cancels.get(params?.sessionId)?.();
  }

  /** @returns {Turn} */
  #turn(id, params) {
    return { agent: this, id, sessionId: params?.sessionId, cancelled: new Promise(() => undefined), params };
  }

  /** Returns when the steps wait for the first time. */
  run(steps, turn) {
    runSteps(steps, turn).catch((error) => {
      this.#journal('fault', { fault: `the script: ${error.message}` });
      process.exit(70);
    });
  }

  /** Writes at once, or with the next release. */
  write(text) {
    if (this.#held !== undefined) this.#held += text;
    else process.stdout.write(text);
  }

  hold() {
    this.#held = '';
  }

  release() {
    const text = this.#held ?? '';
    this.#held = undefined;
    this.write(text);
  }

  send(message) {
    this.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + (this.#script.crlf === true ? '\r\n' : '\n'));
  }

  update(turn, update, sessionId = turn.sessionId) {
    this.send({ method: 'session/update', params: { sessionId, update } });
  }

  chunk(turn, sessionUpdate, text, messageId, sessionId) {
    const content = { type: 'text', text };
    this.update(turn, { sessionUpdate, content, ...(messageId !== undefined && { messageId }) }, sessionId);
  }

  respond(turn, result, id = turn.id) {
    if (id === turn.id) this.#judge.promptAnswered(turn.sessionId);
    if (result?.stopReason !== undefined) this.#journal('answered', { stopReason: result.stopReason });
    const opensSession = turn.params?.cwd !== undefined && id === turn.id;
    if (!opensSession) return this.send({ id, result });
    const { sessionId = turn.sessionId } = result ?? {};
    this.#judge.sessionOpened(sessionId);
    return this.send({ id, result: { ...result, sessionId } });
  }

  fail(turn, error) {
    this.#judge.promptAnswered(turn.sessionId);
    this.send({ id: turn.id, error });
  }

  /** Resolves with the response, an error too. */
  ask(method, params, optionIds) {
    const id = `ask-${this.#nextAsk}`;
    this.#nextAsk += 1;
    this.#judge.asked(id, optionIds);
    const answered = new Promise((resolve) => this.#asking.set(id, resolve));
    this.#journal('asked', { id, method });
    this.send({ id, method, params });
    return answered;
  }

  /**
   * @param {Turn} turn
   * @param {string[]} kinds of the options; the id of an option is its kind and its place among all
   */
  askPermission(turn, kinds, sessionId = turn.sessionId) {
    const options = kinds.map((kind, place) => ({ optionId: `${kind}-${place}`, name: kind, kind }));
    const toolCall = { toolCallId: 'call-1', title: 'Write a file', kind: 'edit', status: 'pending' };
    const optionIds = options.map(({ optionId }) => optionId);
    return this.ask('session/request_permission', { sessionId, toolCall, options }, optionIds);
  }

  #settle({ id, result, error }) {
    const resolve = this.#asking.get(id);
    this.#asking.delete(id);
    const outcome =
      result?.outcome?.optionId ?? result?.outcome?.outcome ?? (error && { code: error.code }) ?? 'result';
    this.#outcomes.push(outcome);
    this.#journal('outcome', { id, outcome });
    resolve?.(undefined);
  }

  /** @param {string} what */
  known(what, { params }) {
    if (what === 'outcomes') return this.#outcomes;
    if (what === 'environment') return process.env;
    if (what === 'cwd') return process.cwd();
    if (what === 'params') return params;
    if (what === 'pid') return process.pid;
    throw new Error(`nothing is known of ${what}`);
  }

  note(note) {
    this.#journal('note', { note });
  }

  /** Closes one end and lives on. */
  async close(which) {
    // The event loop ends the process when it comes to wait for what is closed already.
    await nextRound();
    closeSync(which === 'stdout' ? 1 : 0);
  }
}
