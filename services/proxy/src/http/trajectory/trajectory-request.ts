import type { Json, JsonObject } from '../../domain/facts.js';
import type { TrajectorySubject } from '../../record/recorder-types.js';
import { request, shape, strictInteger, text, wrongField } from '../fields/index.js';
import { writeObject, type WriteObject } from '../transfers/index.js';

const MAX_PAGE_EVENTS = 1_000;

export interface TrajectoryRequest {
  readonly subject: TrajectorySubject;
  /** A page is asked for. */
  readonly page?: { readonly after: number; readonly limit: number };
  /** An upload is asked for. */
  readonly target?: WriteObject;
}

const fieldsOf = request(
  {},
  {
    task_id: text(),
    context_id: text(),
    after: strictInteger({ min: 0 }),
    limit: strictInteger({ min: 1, max: MAX_PAGE_EVENTS }),
    objects: shape({ trajectory: trajectoryObject }, {}),
  },
);

/** One of six forms: a task or a context, each whole, as a page, or uploaded. @throws Refusal 400 */
export function readTrajectoryRequest(fields: JsonObject): TrajectoryRequest {
  const { task_id: taskId, context_id: contextId, after, limit, objects } = fieldsOf(fields);
  const subject = subjectOf(taskId, contextId);
  if (after !== undefined) {
    if (objects !== undefined) throw wrongField('', 'a trajectory is read in pages or uploaded, not both');
    return { subject, page: { after, limit: limit ?? MAX_PAGE_EVENTS } };
  }
  if (limit !== undefined) throw wrongField('', 'limit goes with after only');
  return objects === undefined ? { subject } : { subject, target: objects.trajectory };
}

function subjectOf(taskId: string | undefined, contextId: string | undefined): TrajectorySubject {
  if (taskId !== undefined && contextId === undefined) return { taskId };
  if (contextId !== undefined && taskId === undefined) return { contextId };
  throw wrongField('', 'a trajectory is named by exactly one of task_id and context_id');
}

function trajectoryObject(value: Json, path: string): WriteObject {
  const object = writeObject(value, path);
  if (object.mediaType !== 'application/json') throw wrongField(`${path}.media_type`, 'must be application/json');
  return object;
}
