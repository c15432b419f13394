import type { JsonObject } from '../../domain/facts.js';
import { wrongField } from '../fields/index.js';

/** Reads of a configuration take no fields. */
export function refuseFields(fields: JsonObject, operation: string): void {
  if (Object.keys(fields).length > 0) throw wrongField('', `${operation} does not accept request fields`);
}
