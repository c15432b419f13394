// Judges what a client writes, by the published protocol alone: no line of it comes from a library that the client uses.

const BLOCK_TYPES = new Set(['text', 'resource_link']);
const TRACEPARENT = /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/u;

/** Follows one client, message by message, and says in words what it did wrong. */
export class ClientJudge {
  #requestIds = new Set();
  #initialized = false;
  #sessions = new Set();
  /** Sessions whose prompt was not answered yet. */
  #prompted = new Set();
  /** Our requests that wait for the client: what each offered, if it was a request for permission. */
  #asked = new Map();

  sessionOpened(sessionId) {
    this.#sessions.add(sessionId);
  }

  promptAnswered(sessionId) {
    this.#prompted.delete(sessionId);
  }

  asked(id, optionIds) {
    this.#asked.set(id, optionIds);
  }

  get unanswered() {
    return [...this.#asked.keys()];
  }

  /**
   * @param {Buffer} bytes of one line
   * @returns {{message?: any, faults: string[]}} the message, if it can be read at all
   */
  line(bytes) {
    const faults = [];
    const text = bytes.toString('utf8');
    if (!Buffer.from(text).equals(bytes)) faults.push('the line is not UTF-8');
    if (text.includes('\r')) faults.push('the line ends with a carriage return');
    let message;
    try {
      message = JSON.parse(text);
    } catch {
      return { faults: [...faults, `the line is not JSON: ${text.slice(0, 80)}`] };
    }
    if (typeof message !== 'object' || message === null || Array.isArray(message))
      return { faults: [...faults, 'the message is not an object'] };
    if (message.jsonrpc !== '2.0') faults.push('the message does not say jsonrpc 2.0');
    faults.push(...this.#message(message));
    return { message, faults };
  }

  #message(message) {
    if (typeof message.method !== 'string') return this.#response(message);
    if ('result' in message || 'error' in message) return ['a request with a result'];
    return 'id' in message ? this.#request(message) : this.#notification(message);
  }

  #request({ id, method, params }) {
    const faults = [];
    if (typeof id !== 'number' && typeof id !== 'string') faults.push('the id is no number and no string');
    if (this.#requestIds.has(id)) faults.push(`the id ${id} was used before`);
    this.#requestIds.add(id);
    if (method !== 'initialize' && !this.#initialized) faults.push(`${method} before initialize`);
    if (method === 'initialize') faults.push(...this.#initialize(params));
    else if (method === 'session/new') faults.push(...newSession(params));
    else if (method === 'session/prompt') faults.push(...this.#prompt(params));
    else if (method === 'session/close') faults.push(...this.#close(params));
    else faults.push(`the request ${method} was not expected`);
    return faults;
  }

  #initialize(params) {
    const faults = this.#initialized ? ['initialize a second time'] : [];
    this.#initialized = true;
    if (params?.protocolVersion !== 1) faults.push('initialize does not ask for version 1');
    const { fs, terminal } = params?.clientCapabilities ?? {};
    if (fs?.readTextFile === true || fs?.writeTextFile === true) faults.push('initialize offers files');
    if (terminal === true) faults.push('initialize offers a terminal');
    return faults;
  }

  #prompt(params) {
    const faults = [];
    const { sessionId, prompt, _meta: meta } = params ?? {};
    if (!this.#sessions.has(sessionId)) faults.push('a prompt for a session that is not open');
    if (this.#prompted.has(sessionId)) faults.push('a prompt while another is open');
    this.#prompted.add(sessionId);
    if (!Array.isArray(prompt) || prompt.length === 0) faults.push('a prompt without blocks');
    else if (!prompt.every(isBlock)) faults.push('a block of the prompt is malformed');
    if (meta?.traceparent !== undefined && !TRACEPARENT.test(meta.traceparent)) faults.push('traceparent is malformed');
    return faults;
  }

  #close(params) {
    const { sessionId } = params ?? {};
    if (this.#prompted.has(sessionId)) return ['session/close while a prompt is open'];
    return this.#sessions.delete(sessionId) ? [] : ['session/close for a session that is not open'];
  }

  #notification({ method, params }) {
    if (method !== 'session/cancel') return [`the notification ${method} was not expected`];
    if (!this.#sessions.has(params?.sessionId)) return ['session/cancel for a session that is not open'];
    return this.#prompted.has(params.sessionId) ? [] : ['session/cancel while no prompt is open'];
  }

  #response(message) {
    const { id } = message;
    if (!this.#asked.has(id)) return [`an answer to ${JSON.stringify(id)}, which was not asked or answered before`];
    const optionIds = this.#asked.get(id);
    this.#asked.delete(id);
    if ('result' in message === 'error' in message) return ['an answer needs either a result or an error'];
    if ('error' in message) return isError(message.error) ? [] : ['the error of an answer is malformed'];
    return optionIds === undefined ? [] : outcome(message.result, optionIds);
  }
}

function newSession(params) {
  const faults = [];
  if (typeof params?.cwd !== 'string' || !params.cwd.startsWith('/')) faults.push('the cwd is not absolute');
  if (!Array.isArray(params?.mcpServers)) faults.push('mcpServers is not a list');
  return faults;
}

function isBlock(block) {
  if (!BLOCK_TYPES.has(block?.type)) return false;
  if (block.type === 'text') return typeof block.text === 'string';
  return typeof block.uri === 'string' && typeof block.name === 'string';
}

function isError(error) {
  return Number.isInteger(error?.code) && typeof error.message === 'string';
}

function outcome(result, optionIds) {
  const given = result?.outcome;
  if (given?.outcome === 'cancelled') return [];
  if (given?.outcome !== 'selected') return ['the outcome is neither cancelled nor selected'];
  return optionIds.includes(given.optionId) ? [] : ['the selected option was not offered'];
}
