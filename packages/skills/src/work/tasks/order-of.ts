import type { Skill } from '@parley/agent';
import { OfferedTools } from '../offline/offered-tools.js';
import { answerIn } from '../offline/task-steps.js';
import { asRecord } from './as-record.js';
import { nameOf } from './delegate-tool.js';
import type { PendingQuestion } from './pending-question.js';
import type { ReadParts, WorkOrder } from './read-parts.js';
import { inputSchemaOf, signatureOf } from './skill-arguments.js';

/** The piece of work that a message describes, or that it completes if an incomplete one was asked about. */
export function orderOf(
  parts: ReadParts,
  pending: PendingQuestion | undefined,
  skills: readonly Skill[],
): WorkOrder | undefined {
  const asked = pending?.order;
  if (asked === undefined) return parts.order;
  const { order } = parts;
  const capability = order?.capability ?? asked.capability;
  const merged: WorkOrder = {
    input: { ...asRecord(asked.input), ...asRecord(order?.input) },
    parameters: { ...asked.parameters, ...order?.parameters },
    ...(capability === undefined ? {} : { capability }),
  };
  const skill = skills.find((one) => one.capability === nameOf(capability ?? ''));
  const text = parts.texts[0] ?? parts.files[0]?.text;
  return skill === undefined || text === undefined ? merged : withAnswer(merged, text, skill);
}

/** An answer in words goes where something is missing: into the text of the input, or else into parameters. */
function withAnswer(order: WorkOrder, text: string, skill: Skill): WorkOrder {
  const input = asRecord(order.input) ?? {};
  const field = inputSchemaOf(skill).required.find((name) => input[name] === undefined);
  if (field !== undefined) return { ...order, input: { ...input, [field]: text } };
  const offered = new OfferedTools([signatureOf(skill, {}).definition]);
  const answers = offered
    .parametersOf(skill.capability)
    .filter(({ name, isRequired }) => isRequired && !Object.hasOwn(order.parameters, name))
    .flatMap((parameter) => {
      const value = answerIn(parameter, text);
      return value === undefined ? [] : [[parameter.name, value] as const];
    });
  return { ...order, parameters: { ...order.parameters, ...Object.fromEntries(answers) } };
}
