import type { Json } from '../domain/facts.js';

/** One fault of a request's parameters. */
export interface ParameterFault {
  readonly type: 'missing' | 'invalid';
  readonly loc: readonly (string | number)[];
  readonly msg: string;
}

/** A JSON-RPC error; its codes are those of JSON-RPC 2.0 and of A2A 0.3. */
export class RpcError extends Error {
  override readonly name = 'RpcError';

  constructor(
    readonly code: number,
    message: string,
    readonly data?: readonly ParameterFault[],
  ) {
    super(message);
  }

  get wire(): object {
    return { code: this.code, data: this.data, message: this.message };
  }
}

/** Without the text: it may hold what its sender wants nobody to see. */
export function notJson(why: string): RpcError {
  return new RpcError(-32_700, `Invalid JSON payload: ${why}`);
}

export function notARequest(fault: ParameterFault): RpcError {
  return new RpcError(-32_600, 'Request payload validation error', [fault]);
}

export function methodNotFound(): RpcError {
  return new RpcError(-32_601, 'Method not found');
}

export function wrongParameters(...faults: readonly ParameterFault[]): RpcError {
  return new RpcError(-32_602, 'Invalid parameters', faults);
}

/** The parameters are well-formed, but cannot be taken as they are. */
export function refusedParameters(message: string): RpcError {
  return new RpcError(-32_602, message);
}

export function taskNotFound(message = 'Task not found'): RpcError {
  return new RpcError(-32_001, message);
}

export function notCancelable(state: string): RpcError {
  return new RpcError(-32_002, `Task cannot be canceled - current state: TaskState.${state}`);
}

export function notSupported(message: string): RpcError {
  return new RpcError(-32_603, message);
}

export function missing(...loc: readonly (string | number)[]): ParameterFault {
  return { type: 'missing', loc, msg: 'Field required' };
}

export function invalid(msg: string, ...loc: readonly (string | number)[]): ParameterFault {
  return { type: 'invalid', loc, msg };
}

/** The id of a request: a string or an integer. */
export function isRequestId(value: Json | undefined): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value === 'number') return Number.isInteger(value);
  return JSON.isRawJSON(value) && /^-?\d+$/.test(value.rawJSON);
}
