/** For what only Linux has: /proc, namespaces. */
export const describeOnLinux = process.platform === 'linux' ? describe : describe.skip;
