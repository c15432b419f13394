type Environment = Readonly<Record<string, string | undefined>>;

/** The variables that a child has of its own. */
export function childEnvironment(agentId: string, env: Environment): Record<string, string> {
  return {
    AGENT_ID: `${agentId}.review`,
    OTEL_SERVICE_NAME: `${env['OTEL_SERVICE_NAME'] ?? agentId}-review`,
  };
}

/**
 * Names of what a child is told of the service's environment beside the harmless variables that every child gets: where
 * spans go. Keys and tokens of the service stay out.
 */
export function forwardedNames(env: Environment): string[] {
  return Object.keys(env).filter((name) => name.startsWith('OTEL_'));
}
