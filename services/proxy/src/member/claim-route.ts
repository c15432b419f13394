import type { Logger, Metrics } from '@parley/service-kit';
import type { RequestHandler } from 'express';
import { claimRequest } from '../http/driver/driver-requests.js';
import { readFields } from '../http/wire/read-fields.js';
import { sendJson } from '../http/wire/send-answer.js';
import { sendFailure } from '../http/wire/send-failure.js';
import { shownAgreement } from './agreement-headers.js';
import type { DriverLease } from './driver-lease.js';

const PATH = '/ext/proxy/claim';

/** `POST /ext/proxy/claim` of a proxy that agrees with its drivers: the same wire, with an agreement in the headers. */
export function claimRoute(lease: DriverLease, logger: Logger, metrics: Metrics): RequestHandler {
  return async (request, response, next) => {
    if (request.method !== 'POST' || request.path !== PATH) {
      next();
      return;
    }
    const started = performance.now();
    try {
      const { token } = claimRequest(await readFields(request));
      await lease.claim(token, shownAgreement(request.headers));
      sendJson(response, {});
    } catch (thrown) {
      sendFailure(request, response, thrown, logger);
    } finally {
      metrics.httpRequest('POST', PATH, response.statusCode, (performance.now() - started) / 1_000);
    }
  };
}
