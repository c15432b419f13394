import type { SubagentUpdate } from './subagent-types.js';
import { UpdateChannel } from './update-channel.js';

const turn = (n: number): SubagentUpdate => ({ kind: 'turn_started', turn: n });

async function readAll(channel: UpdateChannel): Promise<SubagentUpdate[]> {
  const all: SubagentUpdate[] = [];
  for await (const update of channel) all.push(update);
  return all;
}

describe('updates of a child', () => {
  it('are read in order, also after the end', async () => {
    const channel = new UpdateChannel();
    const first = channel.next();
    channel.push(turn(1));
    channel.push(turn(2));
    channel.end();
    channel.push(turn(3));
    expect(await first).toEqual({ done: false, value: turn(1) });
    expect(await readAll(channel)).toEqual([turn(2)]);
  });

  it('that nobody reads are dropped, oldest first, and their number is told', async () => {
    const channel = new UpdateChannel(3);
    for (let n = 1; n <= 10; n += 1) channel.push(turn(n));
    channel.end();
    expect(await readAll(channel)).toEqual([{ kind: 'dropped', count: 7 }, turn(8), turn(9), turn(10)]);
  });

  it('end for a reader that waits', async () => {
    const channel = new UpdateChannel();
    const reading = readAll(channel);
    channel.end();
    expect(await reading).toEqual([]);
  });
});
