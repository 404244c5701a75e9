/** What a signal was aborted with, as an error. */
export function abortReason(signal: AbortSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new Error('aborted', { cause: signal.reason });
}

/**
 * The promise, or the signal's reason if that comes first. The work behind the promise goes on, for others that wait for it. Once this resolves no
 * listener is left on the signal, so that it may live for long.
 */
export async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(abortReason(signal));
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  try {
    return await Promise.race([aborted.promise, promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
