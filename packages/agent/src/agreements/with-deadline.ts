/**
 * What a hook answers, or `late` when it has not answered in time or failed. The signal is aborted when it is late.
 * @param onFailure is told why.
 */
export async function withDeadline<T>(
  work: (signal: AbortSignal) => T | Promise<T>,
  timeoutMs: number,
  late: T,
  onFailure: (error: unknown) => void,
): Promise<T> {
  const controller = new AbortController();
  const { promise: timeout, resolve } = Promise.withResolvers<'late'>();
  const timer = setTimeout(resolve, timeoutMs, 'late');
  try {
    const running = Promise.resolve(work(controller.signal)).then((value) => ({ value }));
    const first = await Promise.race([running, timeout]);
    if (first !== 'late') return first.value;
    const error = new Error(`no answer within ${String(timeoutMs)} ms`);
    controller.abort(error);
    // It may still fail, with nobody waiting.
    running.catch(() => undefined);
    onFailure(error);
    return late;
  } catch (error) {
    onFailure(error);
    return late;
  } finally {
    clearTimeout(timer);
  }
}
