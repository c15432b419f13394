import { randomUUID } from 'node:crypto';
import { CompactionRunner } from '../context/compaction-runner.js';
import { ContextBuilder } from '../context/context-builder.js';
import { quietLogger } from '../logger.js';
import type { ModelAdapter } from '../model/model-adapter.js';
import { runPolicyOf } from '../run/run-policy.js';
import type { RunServices } from '../run/run.js';
import { SkillManager } from '../skills/skill-manager.js';
import { ToolRuntime } from '../tools/tool-runtime.js';
import { untilAborted } from '../tools/until-aborted.js';
import type { AgentOptions } from './agent-options.js';
import { ContextPressure } from './context-pressure.js';
import { type Resource, Resources } from './resources.js';

const MODEL_STOP_TIMEOUT_MS = 10_000;

/** The parts of an agent, put together from its options. */
export interface ComposedAgent {
  readonly services: RunServices;
  readonly resources: Resources;
}

/** @throws RangeError for an option that is out of range. */
export function composeAgent(model: ModelAdapter, options: AgentOptions): ComposedAgent {
  const logger = options.logger ?? quietLogger;
  const newId = options.newId ?? randomHexId;
  const runtimePolicy = options.runtimePolicy ?? {};
  const policy = runPolicyOf(runtimePolicy);
  const { handlers = [], middlewares = [], context } = options;
  const tools = new ToolRuntime({ handlers, middlewares, policy: runtimePolicy, logger });
  const skills = options.skillsDir === undefined ? null : new SkillManager(options.skillsDir, { logger });
  const services: RunServices = {
    agentId: options.agentId ?? 'agent',
    model,
    tools,
    skills,
    contextBuilder: new ContextBuilder({
      ...(options.systemPrompt === undefined ? {} : { systemPrompt: options.systemPrompt }),
      requireExplicitFinish: policy.requireExplicitFinish,
    }),
    pressure: context === undefined ? null : new ContextPressure(context),
    compactor: context?.compactor === undefined ? null : new CompactionRunner({ compactor: context.compactor, newId }),
    hooks: options.hooks ?? [],
    observers: options.observers ?? [],
    policy,
    logger,
    newId,
  };
  const parts = [...(skills === null ? [] : [skillsResource(skills)]), modelResource(model), toolsResource(tools)];
  return { services, resources: new Resources(parts, logger) };
}

function randomHexId(): string {
  return randomUUID().replaceAll('-', '');
}

function skillsResource(skills: SkillManager): Resource {
  return { name: 'skills', start: () => skills.start(), stop: () => Promise.resolve() };
}

function modelResource(model: ModelAdapter): Resource {
  const stop = (): Promise<void> => Promise.resolve(model.stop?.());
  return {
    name: 'model',
    // A start that still succeeds after everybody has gone is undone.
    start: async (signal) =>
      untilAborted(Promise.resolve(model.start?.(signal)), signal, () => void stop().catch(() => undefined)),
    stop,
    stopTimeoutMs: MODEL_STOP_TIMEOUT_MS,
  };
}

function toolsResource(tools: ToolRuntime): Resource {
  return { name: 'tools', start: (signal) => tools.start(signal), stop: () => tools.stop() };
}
