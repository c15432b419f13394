/**
 * What a connection is made of. The protocol's library is large: an agent without MCP servers does not load it.
 */
export async function loadConnectionParts() {
  const [{ McpConnection }, { createTransport, secretsOf }] = await Promise.all([
    import('./mcp-connection.js'),
    import('./create-transport.js'),
  ]);
  return { McpConnection, createTransport, secretsOf };
}

export type ConnectionParts = Awaited<ReturnType<typeof loadConnectionParts>>;
