import { Refusal } from './facts.js';
import { quote } from './python-repr.js';

export function noOpenTurn(taskId: string): Refusal {
  return new Refusal(404, `no open turn ${quote(taskId)}`);
}

export function noAction(actionId: string): Refusal {
  return new Refusal(404, `no action ${quote(actionId)}`);
}

export function actionStopped(actionId: string): Refusal {
  return new Refusal(404, `action ${quote(actionId)} was stopped: its turn is over`);
}

export function anotherTurnsAction(actionId: string): Refusal {
  return new Refusal(409, `action ${quote(actionId)} is another turn's`);
}

export function anotherAction(actionId: string): Refusal {
  return new Refusal(409, `action ${quote(actionId)} was another call: one id stands for one action`);
}

export function callNotMade(name: string): Refusal {
  return new Refusal(409, `the last recorded model call didn't make this call to ${quote(name)}`);
}

export function callsNotRun(names: readonly string[]): Refusal {
  return new Refusal(409, `the last recorded model call's calls to [${names.map(quote).join(', ')}] haven't run`);
}

export function noShell(): Refusal {
  return new Refusal(409, 'this proxy works in no sandbox, so it runs no commands');
}

export function wrongToken(): Refusal {
  return new Refusal(401, "the driver's token is missing or wrong");
}

export function alreadyClaimed(): Refusal {
  return new Refusal(409, 'this proxy is already claimed');
}

export function notKept(): Refusal {
  return new Refusal(503, "the proxy couldn't write this down, so it didn't happen; try again");
}

export function stopping(): Refusal {
  return new Refusal(503, 'the proxy is shutting down');
}
