import { RETRY_ANNOTATION } from '../checkpoint/download.ts';
import { type ContentRef, type Source, sourceText } from '../checkpoint/source.ts';
import { sameContent, storedContent } from '../store/content.ts';
import type { Store } from '../store/store.ts';
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';

export interface CondemnDeps {
  store: Store;
  clock: Pick<Clock, 'now'>;
  log: Log;
}

export interface Charge {
  /** Its newest name: the annotation dkc.dev/retry of an older one would lift the condemnation at once. */
  source: Source;
  content: ContentRef;
  reason: string;
  evidence: readonly string[];
}

/**
 * Writes down that this node must not run this content again. Where last-known-good is the same content it is not the config: that is only reported.
 * @returns whether it is condemned now
 * @throws StoreError when the record cannot be kept anywhere
 */
export async function condemn({ store, clock, log }: CondemnDeps, { source, content, reason, evidence }: Charge): Promise<boolean> {
  const trusted = await store.record('last-known-good').catch(() => undefined);
  const trustedContent = trusted?.at === 'known' ? await storedContent(store, trusted.source) : undefined;
  if (trustedContent && sameContent(trustedContent, content)) {
    log.error('trial failed with the last known good content: not condemned, look for another cause', {
      source: sourceText(source),
      reason,
      evidence,
    });
    return false;
  }
  const state = await store.load(source).catch(() => undefined);
  const retry = state?.at === 'intact' ? (state.checkpoint.manifest.annotations[RETRY_ANNOTATION] ?? '') : '';
  const { uid, resourceVersion, namespace, name } = source;
  const { contentSha256, kubeletConfigKey } = content;
  const at = new Date(clock.now()).toISOString();
  const verdict = { uid, resourceVersion, namespace, name, kubeletConfigKey, contentSha256, reason, evidence, by: 'agent', at, retry } as const; // prettier-ignore
  const write = async (own: Store): Promise<void> =>
    own.setCondemned([...(await own.condemned()).filter((other) => !sameContent(other, content)), verdict]);
  // A disk that takes no lock takes no record either; the store keeps it in memory then.
  await store.locked(write).catch(() => write(store));
  log.error('trial failed: this config is condemned on this node', { source: sourceText(source), reason, evidence });
  const quietly = async (what: string, change: Promise<void>): Promise<void> =>
    change.catch((error: unknown) => log.error(`${what} failed, rolling back without it`, { error }));
  await quietly('journal entry', store.addToJournal({ at, event: 'condemned', source, detail: reason }));
  // Kept in memory only, the verdict goes with the next boot of the machine: the trial must then go on where it was.
  if (await store.settleCondemned().catch(() => false)) await quietly('removal of the trial record', store.setTrial(undefined));
  return true;
}
