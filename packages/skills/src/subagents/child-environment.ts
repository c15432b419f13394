/**
 * What a child is told beside the harmless variables that every child gets: its name, and where spans go. Keys and tokens
 * of the service stay out.
 */
export function childEnvironment(
  agentId: string,
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const told = Object.entries(env).flatMap(([name, value]) =>
    name.startsWith('OTEL_') && value !== undefined ? [[name, value] as const] : [],
  );
  return {
    ...Object.fromEntries(told),
    AGENT_ID: `${agentId}.review`,
    OTEL_SERVICE_NAME: `${env['OTEL_SERVICE_NAME'] ?? agentId}-review`,
  };
}
