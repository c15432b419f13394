import { createLogger, silentLogger, type Logger } from '@parley/service-kit';
import { createRegistryService, type RegistryService } from '../app.js';
import { readRegistryConfig } from '../config.js';
import { runPhases } from '@parley/service-kit';

export interface RunningRegistry {
  readonly service: RegistryService;
  readonly httpUrl: string;
  readonly grpcTarget: string;
  stop(): Promise<void>;
}

/** A registry in this process on free ports of the loopback address. */
export async function startRegistry(
  env: Readonly<Record<string, string>> = {},
  logger: Logger = process.env['DEBUG_LOG'] === undefined
    ? silentLogger
    : createLogger({ service: 'registry', format: 'json' }),
): Promise<RunningRegistry> {
  const config = readRegistryConfig({
    REGISTRY_HOST: '127.0.0.1',
    REGISTRY_HTTP_PORT: '0',
    REGISTRY_GRPC_PORT: '0',
    REGISTRY_DRAIN_DELAY_MS: '0',
    ...env,
  });
  const service = createRegistryService({ config, logger });
  await service.start();
  return {
    service,
    httpUrl: `http://127.0.0.1:${String(service.httpPort)}`,
    grpcTarget: `127.0.0.1:${String(service.grpcPort)}`,
    stop: async () => {
      await runPhases(service.shutdownPhases(), silentLogger);
    },
  };
}
