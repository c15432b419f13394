/** The parts of ensure-redis.mjs that only compute. */

/** The oldest redis-server whose commands and scripts the registry uses. */
export const OLDEST_MAJOR = 7;

/** `Redis server v=7.0.15 sha=...` gives 7; 0 when the text says no version. */
export function majorVersion(text) {
  return Number(/\bv=(\d+)\./u.exec(text)?.[1] ?? 0);
}

/**
 * The packages named by `apt-cache depends --recurse`: its lines without indentation, without the
 * virtual ones in angle brackets and without the architecture suffix.
 */
export function packageNames(text) {
  const names = text
    .split('\n')
    .filter((line) => /^[a-z0-9]/u.test(line))
    .map((line) => line.trim().replace(/:[a-z0-9]+$/u, ''));
  return [...new Set(names)];
}

/**
 * A program that starts another from unpacked files. It replaces itself (`exec`), so that the id and the
 * signals are those of redis-server; `loader` is a dynamic loader of the unpacked files, for another C library.
 * @param {{ binary: string, libraryFolders: string[], loader?: string }} files relative to the wrapper's folder
 */
export function wrapperScript({ binary, libraryFolders, loader }) {
  const folders = libraryFolders.map((folder) => `$here/${folder}`).join(':');
  const start =
    loader === undefined
      ? `LD_LIBRARY_PATH="${folders}" exec "$here/${binary}" "$@"`
      : `exec "$here/${loader}" --library-path "${folders}" "$here/${binary}" "$@"`;
  return `#!/bin/sh\nhere=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)\n${start}\n`;
}

/** The library paths in what `ldd` prints, the loader among them. */
export function libraryPaths(text) {
  return text
    .split('\n')
    .map((line) => /(?:=>\s*)?(\/\S+)\s+\(0x/u.exec(line)?.[1])
    .filter((path) => path !== undefined);
}
