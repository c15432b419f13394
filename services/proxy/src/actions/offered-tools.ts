import { Refusal, type OfferedTool } from '../domain/facts.js';
import { quote } from '../domain/python-repr.js';
import type { ListedTool } from './mcp-answers.js';

const SHELL_TOOL = 'bash';
const PROXY = 'the proxy';

/**
 * All tools in the order of their servers.
 *
 * @throws Refusal 409 if a name is offered twice; `bash` is taken where the proxy has a shell.
 */
export function offeredTools(
  listed: readonly { readonly server: string; readonly tools: readonly ListedTool[] }[],
  hasShell: boolean,
): readonly OfferedTool[] {
  const offeredBy = new Map<string, string>(hasShell ? [[SHELL_TOOL, PROXY]] : []);
  const offered: OfferedTool[] = [];
  for (const { server, tools } of listed) {
    for (const tool of tools) {
      const first = offeredBy.get(tool.name);
      if (first !== undefined) {
        throw new Refusal(409, `tool ${quote(tool.name)} is offered by both ${quote(first)} and ${quote(server)}`);
      }
      offeredBy.set(tool.name, server);
      offered.push({ ...tool, server });
    }
  }
  return offered;
}
