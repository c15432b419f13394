/** Waits for an event, at most for a time in milliseconds. */
export async function soon(maxMs: number, event: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, maxMs);
  });
  await Promise.race([event, late]);
  clearTimeout(timer);
}
