import type { Scalar, Skill, TaskOutcome } from '@parley/agent';
import { OfferedTools } from '../offline/offered-tools.js';
import { questionFor } from '../offline/task-steps.js';
import { present } from '../present/present.js';
import { describeRun } from '../harness-run.js';
import { workOnce } from '../work-once.js';
import { asRecord } from './as-record.js';
import { completeParameters, missingParameters } from './complete-parameters.js';
import { nameOf } from './delegate-tool.js';
import { runDelegation } from './do-request.js';
import type { WorkOrder } from './read-parts.js';
import { sessionsOf } from './sessions-of.js';
import { inputSchemaOf, signatureOf } from './skill-arguments.js';
import { isScalar } from './skill-tools.js';
import type { Turn, TurnTools } from './turn.js';

/** Exactly the piece of work that was described, with the agreed parameters. */
export async function doOrder(tools: TurnTools, turn: Turn, order: WorkOrder): Promise<TaskOutcome> {
  const { request } = turn;
  const parameters = parametersOf(order, request.parameters);
  if ('refusal' in parameters) return { state: 'rejected', text: parameters.refusal };
  const capability = capabilityOf(order, request.capability, tools.skills);
  if ('refusal' in capability) return { state: 'rejected', text: capability.refusal };
  if ('question' in capability) return askAbout(turn, order, capability.question);
  const skill = tools.skills.find((one) => one.capability === nameOf(capability.name));
  if (skill === undefined) {
    return runDelegation(tools, turn, {
      capability: capability.name,
      parameters: parameters.values,
      input: order.input,
    });
  }
  const complete = { ...order, capability: skill.capability };
  const question = missingIn(skill, order.input, parameters.values);
  return question === undefined
    ? doExactly(tools, turn, skill, complete, parameters.values)
    : askAbout(turn, complete, question);
}

async function doExactly(
  { options }: TurnTools,
  { request, context, ledger }: Turn,
  skill: Skill,
  { input }: WorkOrder,
  values: Readonly<Record<string, Scalar>>,
): Promise<TaskOutcome> {
  const { capability, detail } = skill;
  const parameters = completeParameters(detail.parameters ?? {}, values);
  ledger.working(`${capability}: ${options.agentId} is working`);
  const { output, result } = await workOnce(
    skill,
    input,
    { parameters, signal: request.signal, contextId: request.contextId },
    { ...options, sessions: sessionsOf(options, context) },
  );
  ledger.deliver(capability, output, parameters);
  context.said += JSON.stringify(input).length + ledger.given;
  const { model } = options;
  const run = describeRun(result, model);
  const { headline } = present(capability, output);
  if (model.offline === true) {
    const text = `${capability}: ${headline} Done offline, without a language model.`;
    return { state: 'completed', text, metadata: { run }, output: { ...output, run } };
  }
  const answer = result.output;
  return { state: 'completed', text: answer ?? headline, metadata: { run }, output: { ...output, answer, run } };
}

function askAbout({ request, context }: Turn, order: WorkOrder, text: string): TaskOutcome {
  context.ask(request.taskId, { missing: 'parameters', order });
  return { state: 'input_required', text };
}

/** What was agreed comes first; to ask for something else is refused, not overlooked. */
function parametersOf(
  { parameters }: WorkOrder,
  agreed: Readonly<Record<string, Scalar>>,
): { readonly values: Readonly<Record<string, Scalar>> } | { readonly refusal: string } {
  const asked = Object.entries(parameters);
  const wrong = asked.find(([, value]) => !isScalar(value));
  if (wrong !== undefined)
    return { refusal: `The parameter ${wrong[0].slice(0, 64)} must be a text, a number, true or false.` };
  const other = asked.find(([name, value]) => Object.hasOwn(agreed, name) && agreed[name] !== value);
  if (other !== undefined) {
    return {
      refusal: `The parameter ${other[0].slice(0, 64)} is ${JSON.stringify(agreed[other[0]])} and cannot be another.`,
    };
  }
  return { values: { ...(parameters as Readonly<Record<string, Scalar>>), ...agreed } };
}

/** The one that was agreed on, or that the order names, or the only one that the input fits. */
function capabilityOf(
  order: WorkOrder,
  agreed: string | undefined,
  skills: readonly Skill[],
): { readonly name: string } | { readonly refusal: string } | { readonly question: string } {
  const named = order.capability;
  if (agreed !== undefined && named !== undefined && nameOf(agreed) !== nameOf(named)) {
    return { refusal: `This task is about ${nameOf(agreed)} and nothing else.` };
  }
  const name = agreed ?? named;
  if (name !== undefined) return { name };
  const fitting = skills.filter((skill) => skill.input.safeParse(order.input).success);
  const [only] = fitting;
  if (only !== undefined && fitting.length === 1) return { name: only.capability };
  const choice = (fitting.length > 0 ? fitting : skills).map(({ capability }) => capability).join(', ');
  return { question: `Which capability is this input for: ${choice}? Please send it as "capability".` };
}

/** The question about the first thing that is missing. What is there and wrong is for the skill to refuse. */
function missingIn(skill: Skill, input: unknown, parameters: Readonly<Record<string, Scalar>>): string | undefined {
  const given = asRecord(input);
  if (given !== undefined) {
    const field = inputSchemaOf(skill).required.find((name) => given[name] === undefined);
    if (field !== undefined) return `The input of ${skill.capability} has no ${field}: please send it.`;
  }
  const [missing] = missingParameters(skill.detail.parameters ?? {}, parameters);
  if (missing === undefined) return undefined;
  const offered = new OfferedTools([signatureOf(skill, {}).definition]).parametersOf(skill.capability);
  return questionFor(missing, skill.capability, offered.find(({ name }) => name === missing)?.values ?? []);
}
