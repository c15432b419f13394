import { isDeepStrictEqual } from 'node:util';
import type { Task } from '@a2a-js/sdk';

/**
 * A write of a task that somebody else has changed since it was loaded: what the writer changed goes on top of what is
 * stored now. Without it a message that arrives while the work reports progress would be lost, or the progress.
 */
export function joinChanges(base: Task, ours: Task, stored: Task): Task {
  const known = new Set(stored.history.map(({ messageId }) => messageId));
  return {
    ...stored,
    status: isDeepStrictEqual(ours.status, base.status) ? stored.status : ours.status,
    history: [...stored.history, ...ours.history.filter(({ messageId }) => !known.has(messageId))],
    artifacts: joinArtifacts(base, ours, stored),
    metadata: isDeepStrictEqual(ours.metadata, base.metadata)
      ? stored.metadata
      : { ...stored.metadata, ...ours.metadata },
  };
}

function joinArtifacts(base: Task, ours: Task, stored: Task): Task['artifacts'] {
  const before = new Map(base.artifacts.map((artifact) => [artifact.artifactId, artifact]));
  const changed = new Map(
    ours.artifacts
      .filter((artifact) => !isDeepStrictEqual(artifact, before.get(artifact.artifactId)))
      .map((artifact) => [artifact.artifactId, artifact]),
  );
  const there = stored.artifacts.map((artifact) => changed.get(artifact.artifactId) ?? artifact);
  const ids = new Set(there.map(({ artifactId }) => artifactId));
  return [...there, ...[...changed.values()].filter(({ artifactId }) => !ids.has(artifactId))];
}
