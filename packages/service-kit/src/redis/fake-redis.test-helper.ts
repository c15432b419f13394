import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';

export interface FakeRedis {
  readonly port: number;
  /** Commands that are not about the connection itself, in the order of their arrival. */
  readonly commands: readonly (readonly string[])[];
  /** How many connections there were. */
  readonly connections: number;
  /** Ends all connections. */
  cut(): void;
  close(): Promise<void>;
}

/** A reply as it goes over the wire, or none at all. */
export type FakeAnswer = (command: readonly string[], count: number) => string | undefined;

const SETUP = new Set(['client', 'info', 'auth', 'select']);

/** Answers as it is told: `+OK`, `-MOVED 1 127.0.0.1:2`. It says of itself that it is a master. */
export async function startFakeRedis(answer: FakeAnswer): Promise<FakeRedis> {
  const commands: (readonly string[])[] = [];
  const open = new Set<Socket>();
  let connections = 0;
  const reply = (command: readonly string[]): string | undefined => {
    const name = command[0]?.toLowerCase() ?? '';
    if (name === 'hello') return `-ERR unknown command 'HELLO'`;
    if (name === 'info') return '$11\r\nrole:master';
    if (SETUP.has(name)) return '+OK';
    commands.push(command);
    return answer(command, commands.length);
  };
  const server = createServer((socket) => {
    connections += 1;
    open.add(socket);
    socket.on('close', () => open.delete(socket)).on('error', () => undefined);
    let rest = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      rest += chunk;
      for (let read = readCommand(rest); read !== undefined; read = readCommand(rest)) {
        rest = rest.slice(read.length);
        const line = reply(read.command);
        if (line !== undefined) socket.write(`${line}\r\n`);
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = () => {
    for (const socket of open) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    commands,
    get connections() {
      return connections;
    },
    cut,
    close: async () => {
      server.close();
      cut();
      await once(server, 'close');
    },
  };
}

/** The first whole command of `text`, ASCII only. */
function readCommand(text: string): { readonly command: string[]; readonly length: number } | undefined {
  const head = /^\*(\d+)\r\n/u.exec(text);
  if (head === null) return undefined;
  const command: string[] = [];
  let at = head[0].length;
  for (let left = Number(head[1]); left > 0; left -= 1) {
    const size = /^\$(\d+)\r\n/u.exec(text.slice(at));
    if (size === null) return undefined;
    at += size[0].length;
    const value = text.slice(at, at + Number(size[1]));
    at += Number(size[1]) + 2;
    if (text.length < at) return undefined;
    command.push(value);
  }
  return { command, length: at };
}
