import type { Recorder } from '../../record/recorder-types.js';
import type { ProxyRoute } from '../routes.js';
import type { ObjectStore } from '../transfers/index.js';
import { readTrajectoryRequest } from './trajectory-request.js';

/** The framework waits 180 s for an answer. */
const UPLOAD_MS = 170_000;

export interface TrajectoryRoutesDeps {
  readonly recorder: Pick<Recorder, 'whole' | 'page'>;
  readonly store: ObjectStore;
  /** Aborts when the service stops. */
  readonly closing: AbortSignal;
}

export function trajectoryRoutes({ recorder, store, closing }: TrajectoryRoutesDeps): readonly ProxyRoute[] {
  return [
    {
      method: 'POST',
      path: '/ext/trajectory',
      summary: 'Reads or uploads what was done in a task or a context.',
      isControl: true,
      handle: async ({ fields, signal }) => {
        const { subject, page, target } = readTrajectoryRequest(fields);
        if (page !== undefined) return recorder.page(subject, page.after, page.limit);
        const events = recorder.whole(subject);
        if (target === undefined) return { trajectory: events };
        const either = AbortSignal.any([signal, closing, AbortSignal.timeout(UPLOAD_MS)]);
        const uploaded = await store.upload(target, Buffer.from(JSON.stringify(events)), either);
        return { objects: { trajectory: uploaded } };
      },
    },
  ];
}
