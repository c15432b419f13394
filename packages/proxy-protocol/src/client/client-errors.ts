/** Base of everything that a call to a proxy fails with, other than the abort of its caller. `code` is for programs. */
export class ProxyError extends Error {
  override readonly name: string = 'ProxyError';

  constructor(
    readonly code: string,
    message: string,
    options?: { readonly cause?: unknown },
  ) {
    super(message, options);
  }
}

/** The proxy refused a call: 400 for one that is wrong in itself, 409 for one that does not fit now. The message is its sentence. */
export class ProxyRefused extends ProxyError {
  override readonly name = 'ProxyRefused';

  constructor(
    readonly status: 400 | 409,
    sentence: string,
  ) {
    super('proxy_refused', sentence);
  }
}

/** The turn, or the action, is over: answered, cancelled or forgotten. */
export class TurnGone extends ProxyError {
  override readonly name = 'TurnGone';

  constructor(sentence: string, options?: { readonly cause?: unknown }) {
    super('turn_gone', sentence, options);
  }
}

/** The proxy does not know the token: it was claimed with another one, or has forgotten its claim. */
export class ProxyUnauthorized extends ProxyError {
  override readonly name = 'ProxyUnauthorized';

  constructor(sentence: string) {
    super('proxy_unauthorized', sentence);
  }
}

/** Any other answer that is no success. */
export class ProxyFailed extends ProxyError {
  override readonly name = 'ProxyFailed';

  constructor(
    readonly status: number,
    sentence: string,
  ) {
    super('proxy_failed', sentence);
  }

  /** True if the same call may succeed a little later. */
  get isTransient(): boolean {
    return this.status >= 500 || this.status === 429;
  }
}

/** An answer that a proxy does not give: no JSON, or other members. */
export class ProxyMisread extends ProxyError {
  override readonly name = 'ProxyMisread';

  constructor(message: string, options?: { readonly cause?: unknown }) {
    super('proxy_misread', message, options);
  }
}

/** No answer: the connection could not be made, broke, or was silent for too long. */
export class ProxyUnreachable extends ProxyError {
  override readonly name = 'ProxyUnreachable';

  constructor(
    message: string,
    /** False: the proxy surely has not seen the call. */
    readonly wasPerhapsSent: boolean,
    options?: { readonly cause?: unknown },
  ) {
    super('proxy_unreachable', message, options);
  }
}

/** An error of the A2A side, with the code of JSON-RPC. */
export class A2aRefused extends ProxyError {
  override readonly name = 'A2aRefused';

  constructor(
    readonly rpcCode: number,
    message: string,
  ) {
    super('a2a_refused', message);
  }
}

/** True if the same call may succeed a little later: no answer, or one that says that it is not up to it now. */
export function isPassing(error: unknown): boolean {
  return error instanceof ProxyUnreachable || (error instanceof ProxyFailed && error.isTransient);
}
