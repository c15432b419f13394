import { EventEmitter, getEventListeners } from 'node:events';
import { CallScope, OpenCalls } from './call-scope.js';

class FullSink extends EventEmitter {
  writableNeedDrain = true;
  destroyed = false;
}

function scopeOver(sink: FullSink, slowReaderMs = 10_000): CallScope {
  return new CallScope({ binding: 'rest', legacy: false, sink, slowReaderMs });
}

describe('the room of a reader', () => {
  it.each(['drain', 'close'])('is waited for until %s, without leaving listeners behind', async (event) => {
    const sink = new FullSink();
    const scope = scopeOver(sink);
    const room = scope.room();
    sink.emit(event);
    await room;
    expect(sink.eventNames()).toEqual([]);
    expect(getEventListeners(scope.signal, 'abort')).toHaveLength(0);
  });

  it('is not waited for when there is some, or nobody to wait for', async () => {
    const sink = new FullSink();
    const scope = scopeOver(sink);
    const waiting = scope.room();
    scope.leave();
    await waiting;
    await scope.room();
    const ready = new FullSink();
    ready.writableNeedDrain = false;
    await scopeOver(ready).room();
    expect(sink.eventNames()).toEqual([]);
  });

  it('is waited for only so long', async () => {
    const sink = new FullSink();
    await expect(scopeOver(sink, 5).room()).rejects.toMatchObject({ code: 'slow_reader' });
    expect(sink.eventNames()).toEqual([]);
  });
});

describe('the calls under way', () => {
  it('are forgotten when they are over, and tell a complete answer from a reader that left', () => {
    const calls = new OpenCalls();
    const [read, left] = [scopeOver(new FullSink()), scopeOver(new FullSink())];
    const overs = [calls.add(read), calls.add(left)];
    expect(calls.size).toBe(2);
    overs[0]?.(true);
    overs[1]?.(false);
    expect([calls.size, read.signal.aborted, left.signal.aborted, left.hasLeft]).toEqual([0, false, true, true]);
  });

  it('end with the server, which is not the readers’ doing', () => {
    const calls = new OpenCalls();
    const scope = scopeOver(new FullSink());
    calls.add(scope);
    calls.close();
    expect(scope.signal.reason).toMatchObject({ code: 'shutting_down' });
    scope.leave();
    expect(scope.hasLeft).toBe(false);
    const late = scopeOver(new FullSink());
    calls.add(late);
    expect(late.signal.aborted).toBe(true);
  });
});
