import type { DelegateRequest, DelegateResult, TaskArtifact, TaskPart, TaskReporter, TaskRequest } from '@parley/agent';
import { codeReview, createTaskExecutor, OfflineAgentModel, summarize, translate } from '../../index.js';
import type { TaskExecutorOptions } from './turn.js';

export const NEVER = new AbortController().signal;

export function text(words: string): TaskPart {
  return { kind: 'text', text: words };
}

export function file(name: string, content: string, mediaType = 'text/plain'): TaskPart {
  return { kind: 'bytes', bytes: new TextEncoder().encode(content), name, mediaType };
}

export function data(value: unknown): TaskPart {
  return { kind: 'data', data: value };
}

let messages = 0;

export function request(parts: readonly TaskPart[], more: Partial<TaskRequest> = {}): TaskRequest {
  messages += 1;
  return {
    taskId: `task-${messages}`,
    contextId: 'context-1',
    messageId: `message-${messages}`,
    parts,
    capability: undefined,
    parameters: {},
    agreement: undefined,
    hops: 0,
    isFollowUp: false,
    signal: NEVER,
    ...more,
  };
}

/** Writes down what it is told, in one list, so that the order shows. */
export class Recorder implements TaskReporter {
  readonly heard: string[] = [];
  readonly artifacts: TaskArtifact[] = [];

  working(words: string): void {
    this.heard.push(words);
  }

  artifact(artifact: TaskArtifact): void {
    this.heard.push(`artifact ${artifact.name}`);
    this.artifacts.push(artifact);
  }

  /** The report of the newest artifact with this name. */
  markdown(name: string): string {
    const artifact = this.artifacts.findLast((one) => one.name === name);
    const part = artifact?.parts.find((one) => one.kind === 'text');
    return part?.kind === 'text' ? part.text : '';
  }

  output(name: string): unknown {
    const artifact = this.artifacts.findLast((one) => one.name === name);
    const part = artifact?.parts.find((one) => one.kind === 'data');
    return part?.kind === 'data' ? part.data : undefined;
  }
}

const ALL = [codeReview, summarize, translate];

export function executorOf(options: Partial<TaskExecutorOptions> = {}, skills = ALL) {
  return createTaskExecutor(skills, { agentId: 'agent_A', model: new OfflineAgentModel(), ...options });
}

/** A partner that reviews code, as an agent of this system does. */
export class Partner {
  readonly asked: DelegateRequest[] = [];
  readonly delegate = async (asked: DelegateRequest): Promise<DelegateResult> => {
    this.asked.push(asked);
    asked.onProgress?.('code_review: agent_B is working');
    const reporter = new Recorder();
    const executor = createTaskExecutor([codeReview], { agentId: 'agent_B', model: new OfflineAgentModel() });
    const { capability, parts, parameters, signal } = asked;
    const outcome = await executor.execute(request(parts, { capability, parameters, signal }), reporter);
    return {
      agentId: 'agent_B',
      taskId: 'remote-1',
      agreementId: 'agr-1',
      applied: parameters,
      text: outcome.text,
      artifacts: reporter.artifacts,
      attempts: [],
    };
  };
}

export const BAD_CODE = 'function f(a) {\n  if (a == 1) eval(a);\n  debugger;\n}\nf(2);\n';
export const ARTICLE =
  'The agent is good. The house is big. Agents work and agents talk. The weather was fine on that day. Nobody knows why the agents work.';
