import { ActionError, describeError } from '../../base/errors.ts';
import { UsageError } from '../failure.ts';
import type { RunningFacts } from '../../scheduler/explain-facts.ts';
import type { PendingDump } from '../../scheduler/queue/pending.ts';
import type { KeptRoom } from '../../scheduler/reservation/kept-room.ts';
import type { NamedRef } from '../explain/find-object.ts';

const PATIENCE_MS = 5_000;

/**
 * What the scheduler that runs says of a pod, and of all room that it keeps.
 * @param address - `HOST:PORT` or a URL, of a process that was started with `--debug`
 * @throws {ActionError} when it does not say so
 */
export async function askScheduler(address: string, { namespace, name }: NamedRef, signal: AbortSignal): Promise<RunningFacts> {
  const url = address.includes('://') ? address : `http://${address}`;
  if (!URL.canParse(url))
    throw new UsageError(`why pod: --debug-address must be HOST:PORT, such as 127.0.0.1:10462; see dkc why pod --help`);
  const [rooms, queue] = await Promise.all([
    read<KeptRoom[]>(url, 'reservations', signal),
    read<PendingDump>(url, 'scheduler-queue', signal),
  ]);
  const { pools, inFlight, pods } = queue;
  const all = Object.values(pools).reduce((sum, size) => sum + size, inFlight);
  return { rooms, pending: pods.find((pod) => pod.namespace === namespace && pod.name === name), unlisted: Math.max(0, all - pods.length) };
}

async function read<T>(url: string, dump: string, signal: AbortSignal): Promise<T> {
  const from = new URL(`/debug/${dump}`, url).href;
  try {
    const answer = await fetch(from, { signal: AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]) });
    if (!answer.ok) throw new Error(`HTTP status ${answer.status}`);
    return (await answer.json()) as T;
  } catch (cause) {
    signal.throwIfAborted();
    const hint = `${describeError(cause)}; it must be the address of a scheduler started with --debug, on the same machine`;
    throw new ActionError('read', from, { hint, cause });
  }
}
