import { AppError, readJsonBody } from '@parley/service-kit';
import type { Request } from 'express';
import { protocolFailure, toFailure, type A2aFailure } from '../errors/a2a-failure.js';

export type Body = { readonly value: unknown } | { readonly failure: A2aFailure };

/** Reads a JSON body; what is no JSON is a failure of its own, as JSON-RPC wants it. `value` is undefined without a body. */
export async function readBody(request: Request, maxBytes: number): Promise<Body> {
  try {
    return { value: await readJsonBody(request, maxBytes) };
  } catch (thrown) {
    const noJson =
      thrown instanceof AppError &&
      thrown.reason === 'invalid_request' &&
      thrown.errors.every(({ path }) => path === '');
    return { failure: noJson ? protocolFailure('PARSE_ERROR', thrown.message, [], thrown) : toFailure(thrown, true) };
  }
}
