import type { Json } from './seen.js';

/** What a stream of server-sent events holds: the data of each event, and comments as they come. */
export async function* serverEvents(
  response: Response,
  onComment: (comment: string) => void = () => undefined,
): AsyncGenerator<Json> {
  if (response.body === null) return;
  let rest = '';
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const blocks = (rest + value).split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) {
        const lines = block.split('\n');
        for (const line of lines) if (line.startsWith(':')) onComment(line.slice(1).trim());
        const data = lines.filter((line) => line.startsWith('data:')).map((line) => line.slice(5).trimStart());
        if (data.length > 0) yield JSON.parse(data.join('\n'));
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
