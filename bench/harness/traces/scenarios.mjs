import { context } from './context.mjs';
import { cancellation, hooksAndControl } from './control.mjs';
import { policyAndValidation } from './policy.mjs';
import { turnsAndTools } from './turns-and-tools.mjs';

const SCENARIOS = { ...turnsAndTools, ...cancellation, ...hooksAndControl, ...context, ...policyAndValidation };

export const scenarioNames = Object.keys(SCENARIOS);

/** Plays one scenario: its results, every event, the history, and what the model was sent last. */
export async function play(name) {
  const lab = await SCENARIOS[name]();
  return lab.document();
}
