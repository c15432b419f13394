/** What tells one file from another, whatever their names. */
export interface FileIdentity {
  readonly ino: number;
  readonly dev: number;
}

export function isSameFile(left: FileIdentity | null, right: FileIdentity): boolean {
  return left?.ino === right.ino && left.dev === right.dev;
}
