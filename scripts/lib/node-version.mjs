/** The oldest Node that runs the tests and services; installing works with older ones. */
export const OLDEST_NODE = [22, 22];

/** Whether a version such as `v24.1.0` or `22.22.0` is new enough. */
export function isNewEnough(version, oldest = OLDEST_NODE) {
  const match = /^v?(\d+)\.(\d+)\./u.exec(version);
  if (match === null) return false;
  const [major, minor] = [Number(match[1]), Number(match[2])];
  return major > oldest[0] || (major === oldest[0] && minor >= oldest[1]);
}
