#!/usr/bin/env node
/**
 * Runs the curl examples of README.md against a system that runs on this machine and compares the answers with what
 * is printed. Ports as in docker-compose.yml: REGISTRY_PORT, AGENT_A_PORT, AGENT_B_PORT, PROXY_PORT; examples that ask
 * Jaeger are run when JAEGER_PORT is set.
 */
import { checkReadme } from './lib/readme-check.mjs';

const at = (port) => `http://127.0.0.1:${port}`;
const {
  REGISTRY_PORT = '8000',
  AGENT_A_PORT = '8001',
  AGENT_B_PORT = '8002',
  PROXY_PORT = '8003',
  JAEGER_PORT = '',
} = process.env;

try {
  const { checked, leftOut } = await checkReadme({
    registry: at(REGISTRY_PORT),
    agentA: at(AGENT_A_PORT),
    agentB: at(AGENT_B_PORT),
    proxy: at(PROXY_PORT),
    ...(JAEGER_PORT === '' ? {} : { jaeger: at(JAEGER_PORT) }),
  });
  console.log(`${checked} examples of README.md hold, ${leftOut} left out`);
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
