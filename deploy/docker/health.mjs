/** Health check of the images, run by their own node: exit 0 when HEALTH_URL answers with success within two seconds. */
const url = process.env.HEALTH_URL ?? '';
try {
  const response = await fetch(url, { signal: AbortSignal.timeout(2_000) });
  await response.body?.cancel();
  if (!response.ok) throw new Error(`status ${response.status}`);
} catch (error) {
  // Shown by `docker inspect`.
  console.error(`${url}: ${error.cause?.message ?? error.message}`);
  process.exitCode = 1;
}
