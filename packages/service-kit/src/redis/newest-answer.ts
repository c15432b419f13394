import type { ServerAddress } from './redis-target.js';

/** Who somebody takes for the master. With every fail-over, and every move of a slot, the epoch grows. */
export interface MasterClaim extends ServerAddress {
  readonly epoch: number;
}

const GRACE_MS = 50;

/**
 * Asks all at once and believes the newest of what is said: one that was cut off for a while, or has not heard yet,
 * still names the old master, with an older epoch. Once a majority has answered, the others have 50 ms left; one that is
 * frozen must not cost its whole time-out.
 * @throws Error the last failure, when nobody says anything.
 */
export async function newestAnswer(
  addresses: readonly ServerAddress[],
  ask: (address: ServerAddress) => Promise<MasterClaim>,
): Promise<ServerAddress> {
  const claims: MasterClaim[] = [];
  const enough = Math.floor(addresses.length / 2) + 1;
  let failure: unknown = new Error('there is nobody to ask');
  let grace: NodeJS.Timeout | undefined;
  await new Promise<void>((resolve) => {
    let open = addresses.length;
    const settled = (): void => {
      open -= 1;
      if (open === 0) resolve();
      else if (claims.length >= enough) grace ??= setTimeout(resolve, GRACE_MS);
    };
    if (open === 0) resolve();
    for (const address of addresses) {
      ask(address).then(
        (claim) => {
          claims.push(claim);
          settled();
        },
        (error: unknown) => {
          failure = error;
          settled();
        },
      );
    }
  });
  clearTimeout(grace);
  const newest = claims.reduce<MasterClaim | undefined>(
    (best, claim) => (best === undefined || claim.epoch > best.epoch ? claim : best),
    undefined,
  );
  if (newest === undefined) throw failure;
  return newest;
}
