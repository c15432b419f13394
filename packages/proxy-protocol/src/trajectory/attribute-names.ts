/**
 * Names of OpenTelemetry's conventions for generative AI that we use, pinned here: the conventions have moved several
 * times and are still unstable, and a record must be read years later.
 */
export const GEN_AI = {
  operationName: 'gen_ai.operation.name',
  providerName: 'gen_ai.provider.name',
  requestModel: 'gen_ai.request.model',
  agentName: 'gen_ai.agent.name',
  conversationId: 'gen_ai.conversation.id',
  toolName: 'gen_ai.tool.name',
  toolType: 'gen_ai.tool.type',
  toolCallId: 'gen_ai.tool.call.id',
  toolCallArguments: 'gen_ai.tool.call.arguments',
  toolCallResult: 'gen_ai.tool.call.result',
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  cacheReadTokens: 'gen_ai.usage.cache_read.input_tokens',
  cacheCreationTokens: 'gen_ai.usage.cache_creation.input_tokens',
  reasoningTokens: 'gen_ai.usage.reasoning.output_tokens',
  systemInstructions: 'gen_ai.system_instructions',
  inputMessages: 'gen_ai.input.messages',
  outputMessages: 'gen_ai.output.messages',
  /** JSON text; of trajectory events, not of spans. */
  prompt: 'gen_ai.prompt',
  /** JSON text; of trajectory events, not of spans. */
  completion: 'gen_ai.completion',
} as const;

/** Names of our own. */
export const PROXY = {
  taskId: 'parley.proxy.task.id',
  actionId: 'parley.proxy.action.id',
  /** How an action ended: `done`, `turn_over`, `cancelled`, `lost`. */
  actionEnd: 'parley.proxy.action.end',
  /** The env server whose tool it was. */
  server: 'parley.proxy.server',
  exitCode: 'parley.proxy.exit_code',
  timedOut: 'parley.proxy.timed_out',
  /** True if the middle of an output was left out. */
  truncated: 'parley.proxy.truncated',
  stdoutBytes: 'parley.proxy.stdout_bytes',
  stderrBytes: 'parley.proxy.stderr_bytes',
  /** What a tool returned besides text, described: an array of `{type, mime_type, base64_length, uri}`. */
  otherContent: 'parley.proxy.other_content',
  toolCallCount: 'parley.proxy.tool_call_count',
  /** The span of whoever sent the message, from `traceparent`: the parent of `turn opened`. */
  callerSpanId: 'parley.proxy.caller_span_id',
  errorType: 'error.type',
} as const;
