/** Bytes of the live JavaScript heap of a process with an inspector port, after a full collection. */
export async function liveHeapBytes(inspectPort) {
  const [target] = await (await fetch(`http://127.0.0.1:${inspectPort}/json`)).json();
  const socket = new WebSocket(target.webSocketDebuggerUrl);
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = () => reject(new Error('the inspector does not answer'));
  });
  const waiting = new Map();
  socket.onmessage = ({ data }) => {
    const { id, result } = JSON.parse(data);
    waiting.get(id)?.(result);
  };
  let next = 0;
  const send = (method, params = {}) =>
    new Promise((resolve) => {
      next += 1;
      waiting.set(next, resolve);
      socket.send(JSON.stringify({ id: next, method, params }));
    });
  await send('HeapProfiler.collectGarbage');
  await send('HeapProfiler.collectGarbage');
  const { usedSize, backingStorageSize = 0 } = await send('Runtime.getHeapUsage');
  socket.close();
  return usedSize + backingStorageSize;
}
