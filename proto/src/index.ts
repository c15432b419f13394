import { createRegistry, type Registry } from '@bufbuild/protobuf';
import { file_parley_v1_agent } from '../gen/parley/v1/agent_pb.js';
import { file_parley_v1_manifest } from '../gen/parley/v1/manifest_pb.js';
import { file_parley_v1_negotiation } from '../gen/parley/v1/negotiation_pb.js';
import { file_parley_v1_problem } from '../gen/parley/v1/problem_pb.js';
import { file_parley_v1_registry } from '../gen/parley/v1/registry_pb.js';

export * from '../gen/parley/v1/agent_pb.js';
export * from '../gen/parley/v1/manifest_pb.js';
export * from '../gen/parley/v1/negotiation_pb.js';
export * from '../gen/parley/v1/problem_pb.js';
export * from '../gen/parley/v1/registry_pb.js';

/** Every message and service of the contract, by full name. */
export const contract: Registry = createRegistry(
  file_parley_v1_agent,
  file_parley_v1_manifest,
  file_parley_v1_negotiation,
  file_parley_v1_problem,
  file_parley_v1_registry,
);
