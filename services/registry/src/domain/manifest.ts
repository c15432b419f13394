import type { AgentInterface, CapabilityDetail, Manifest } from './types.js';

interface ManifestJson {
  readonly agent_id: string;
  readonly name: string;
  readonly endpoint: string;
  readonly capabilities: readonly string[];
  readonly capability_details?: Readonly<Record<string, CapabilityDetail>>;
  readonly version?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly interfaces?: readonly AgentInterface[];
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** The JSON text that is stored and answered: proto field names in proto order, absent fields left out. */
export function toManifestJson(manifest: Manifest): string {
  return JSON.stringify({
    agent_id: manifest.agentId,
    name: manifest.name,
    endpoint: manifest.endpoint,
    capabilities: manifest.capabilities,
    capability_details: manifest.capabilityDetails,
    version: manifest.version,
    labels: manifest.labels,
    interfaces: manifest.interfaces,
    metadata: manifest.metadata,
  });
}

/** Reads the text of `toManifestJson`. It was checked before it was stored; a damaged one throws a SyntaxError. */
export function fromManifestJson(text: string): Manifest {
  const json = JSON.parse(text) as ManifestJson;
  return {
    agentId: json.agent_id,
    name: json.name,
    endpoint: json.endpoint,
    capabilities: json.capabilities,
    ...(json.capability_details === undefined ? {} : { capabilityDetails: json.capability_details }),
    ...(json.version === undefined ? {} : { version: json.version }),
    ...(json.labels === undefined ? {} : { labels: json.labels }),
    ...(json.interfaces === undefined ? {} : { interfaces: json.interfaces }),
    ...(json.metadata === undefined ? {} : { metadata: json.metadata }),
  };
}
