import type { Redis } from 'ioredis';

/**
 * Puts the commands of one turn of the event loop into one write.
 *
 * The library's own automatic pipelining does so as well, but sends all of them in the context of the first,
 * so that spans land in the trace of another request; and it costs about twice the time per command
 * (64 to 256 callers at once: 6 µs against 3 µs).
 */
export function writeTogether(redis: Redis): void {
  const send = redis.sendCommand.bind(redis);
  let held: Redis['stream'] | undefined;
  const release = (): void => {
    held?.uncork();
    held = undefined;
  };
  redis.sendCommand = (command, stream) => {
    const socket = redis.stream as Redis['stream'] | undefined;
    if (held === undefined && socket?.writable === true) {
      socket.cork();
      held = socket;
      setImmediate(release);
    }
    return send(command, stream);
  };
}
