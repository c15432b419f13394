import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type AppError, fromHttpLibrary, type Logger } from '@parley/service-kit';
import { Refusal } from '../../domain/facts.js';
import { TransferFailure } from '../transfers/transfer-failure.js';
import { CallerLeft } from './read-body.js';
import { sendJson, sendText } from './send-answer.js';

/** Answers what was thrown: a refusal with its sentence, a transfer's failure as JSON, anything else as a bare 500. */
export function sendFailure(request: IncomingMessage, response: ServerResponse, thrown: unknown, logger: Logger): void {
  if (thrown instanceof CallerLeft || response.destroyed) return;
  if (thrown instanceof Refusal) {
    if (thrown.status === 429 || thrown.status === 503) response.setHeader('Retry-After', '1');
    sendText(response, thrown.status, thrown.message);
    return;
  }
  if (thrown instanceof TransferFailure) {
    sendJson(response, thrown.body, thrown.status);
    return;
  }
  const known = knownFailure(thrown);
  if (known !== undefined) {
    sendText(response, known.status, known.message);
    return;
  }
  const id = randomBytes(16).toString('hex');
  const path = request.url?.split('?')[0];
  logger.error('request failed', { correlation_id: id, method: request.method, path, error: thrown });
  sendText(response, 500, `An unexpected framework error occurred. Correlation ID: ${id}`);
}

/** What express and the operations' endpoints refuse. */
function knownFailure(thrown: unknown): AppError | undefined {
  const error = fromHttpLibrary(thrown);
  return error.status < 500 ? error : undefined;
}
