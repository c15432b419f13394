/** What a test needs to know about one service of a compose file. */
export interface ComposeService {
  readonly hasHealthCheck: boolean;
  /** Container port to published port of the host. */
  readonly ports: ReadonlyMap<number, number>;
}

/** The variables that set a host port: those with a name in `_PORT` and a number as default, `${REGISTRY_PORT:-8000}`. */
export function portVariables(text: string): readonly string[] {
  return [...new Set([...text.matchAll(/\$\{([A-Z0-9_]+_PORT):-\d+\}/gu)].map((match) => match[1] ?? ''))];
}

interface ConfigJson {
  readonly services: Readonly<
    Record<
      string,
      {
        readonly healthcheck?: { readonly disable?: boolean };
        readonly ports?: readonly { readonly target: number; readonly published?: string }[];
      }
    >
  >;
}

/** Reads what `docker compose config --format json` prints. */
export function parseComposeConfig(json: string): ReadonlyMap<string, ComposeService> {
  const { services } = JSON.parse(json) as ConfigJson;
  return new Map(
    Object.entries(services).map(([name, service]) => {
      const ports = (service.ports ?? []).flatMap(({ target, published }) =>
        published === undefined ? [] : [[target, Number(published)] as const],
      );
      const hasHealthCheck = service.healthcheck !== undefined && service.healthcheck.disable !== true;
      return [name, { hasHealthCheck, ports: new Map(ports) }];
    }),
  );
}

/**
 * testcontainers only logs a wait strategy whose name fits no container, and the wait is then not done at all.
 * @throws Error naming the unknown services and the known ones.
 */
export function checkServiceNames(services: ReadonlyMap<string, ComposeService>, names: readonly string[]): void {
  const unknown = names.filter((name) => !services.has(name));
  if (unknown.length === 0) return;
  throw new Error(`no such service: ${unknown.join(', ')}; the compose file has ${[...services.keys()].join(', ')}`);
}
