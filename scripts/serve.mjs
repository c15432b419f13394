// Starts every service as a process of its own on embedded defaults, until Ctrl-C.
// Redis, a collector or other ports: the same environment variables as the services themselves.
import { startService, untilReady } from './lib/service-process.mjs';

const HOST = '127.0.0.1';
const services = [
  { name: 'registry', prefix: 'REGISTRY', port: process.env.REGISTRY_HTTP_PORT ?? '8000' },
  { name: 'agent-a', prefix: 'AGENT', port: '8001' },
  // As in the containers: code is reviewed in a child process.
  { name: 'agent-b', prefix: 'AGENT', port: '8002', env: { AGENT_SUBAGENT_PROVIDER: 'acp' } },
  {
    name: 'proxy',
    prefix: 'PROXY',
    port: process.env.PROXY_HTTP_PORT ?? '8003',
    env: {
      PROXY_HTTP_PORT: '8003',
      PROXY_AGENT_ID: 'proxy',
      PROXY_REGISTRY_URL: `http://${HOST}:${process.env.REGISTRY_HTTP_PORT ?? '8000'}`,
    },
  },
];
const running = [];
let stopping = false;

async function stop(code) {
  if (stopping) return;
  stopping = true;
  // The newest first: agents deregister while the registry still answers.
  for (const service of [...running].reverse()) await service.stop();
  process.exit(code);
}

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    if (stopping) {
      for (const service of running) service.kill('SIGKILL');
      process.exit(1);
    }
    void stop(0);
  });
}

function start({ name, prefix, env = {} }) {
  const defaults = { [`${prefix}_LOG_FORMAT`]: 'text', [`${prefix}_HOST`]: HOST, ...env };
  const service = startService(name, { ...defaults, ...process.env }, (line) => console.log(line));
  running.push(service);
  void service.exited.then(({ code, signal }) => {
    if (stopping) return;
    console.error(`${name} ended (${signal ?? code}); stopping the others`);
    void stop(1);
  });
}

try {
  for (const service of services) {
    start(service);
    await untilReady(`http://${HOST}:${service.port}/readyz`);
  }
  console.log(
    `\nServing: ${services.map(({ name, port }) => `${name} http://${HOST}:${port}`).join(', ')}. Ctrl-C stops.\n`,
  );
} catch (error) {
  if (!stopping) console.error(String(error));
  await stop(1);
}
