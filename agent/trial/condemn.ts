import { RETRY_ANNOTATION, sameContent, storedContent } from '../checkpoint/payload.ts';
import { type ContentRef, type Source, sourceText } from '../checkpoint/source.ts';
import type { Store } from '../store/store.ts';
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import { exitsText, inThisBoot, type ThisBoot } from './next.ts';
import type { AgentOptions } from '../options.ts';
import type { CleanStop } from '../run/shutdown.ts';

interface CondemnDeps {
  store: Store;
  clock: Pick<Clock, 'now'>;
  log: Log;
}

export interface Charge {
  /** The newest source of the content: with an older dkc.dev/retry value the current one would clear the condemnation at once. */
  source: Source;
  content: ContentRef;
  reason: string;
  evidence: readonly string[];
}

/**
 * Records that this node must not run this content again. Content that is last known good is not condemned, since the cause is elsewhere: only logged.
 * @returns whether the content is condemned now
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
  const write = async (): Promise<void> =>
    store.setCondemned([...(await store.condemned()).filter((other) => !sameContent(other, content)), verdict]);
  // Where the lock cannot be taken the disk is not writable either: then the store keeps the record in memory.
  await store.locked(write).catch(write);
  log.error('trial failed: this config is condemned on this node', { source: sourceText(source), reason, evidence });
  const quietly = async (what: string, change: Promise<void>): Promise<void> =>
    change.catch((error: unknown) => log.error(`${what} failed, rolling back without it`, { error }));
  await quietly('journal entry', store.addToJournal({ at, event: 'condemned', source, detail: reason }));
  // A condemnation that is only in memory is lost at a reboot: keep the trial record, so that the trial continues then.
  if (await store.settleCondemned().catch(() => false)) await quietly('removal of the trial record', store.setTrial(undefined));
  return true;
}

interface CountBootDeps extends CondemnDeps {
  options: Pick<AgentOptions, 'maxKubeletExits'>;
  cleanStop: Pick<CleanStop, 'boot' | 'clear'>;
  bootId: string;
}

/**
 * Counts this boot of the machine against the config on trial if the previous boot ended uncleanly. Runs before boot chooses a config: a kubelet must
 * not start again on a config that took the machine down too often. Never throws.
 */
export async function countBoot(deps: CountBootDeps): Promise<ThisBoot> {
  const { store, cleanStop, bootId, options, clock, log } = deps;
  const boot: ThisBoot = { bootId, stoppedIn: await cleanStop.boot() };
  try {
    const found = await store.trial();
    const isCondemned = found && (await store.condemned()).some((record) => sameContent(record, found));
    const old = isCondemned ? undefined : found;
    const record = old && inThisBoot(old, boot);
    if (old && record && record !== old) {
      const isCounted = record.uncleanBoots !== old.uncleanBoots;
      const { source, kubeletConfigKey, contentSha256, uncleanBoots = 0, exits } = record;
      if (isCounted)
        log.warn('machine restarted without a clean shutdown during a trial, counting it as a kubelet exit', {
          source: sourceText(source),
          uncleanBoots,
        });
      const written = await store.setTrial(record).then(
        () => true,
        (error: unknown) => {
          log.error('the trial cannot be written', { error });
          return false;
        },
      );
      // If the count cannot be stored it can never reach the limit: then one unclean boot condemns.
      const isTooMuch = uncleanBoots >= options.maxKubeletExits || !written;
      if (isCounted && isTooMuch) {
        const evidence = [`${new Date(clock.now()).toISOString()} boot ${bootId} started without a clean shutdown of boot ${old.bootId}`];
        const reason = `${exitsText({ exits, uncleanBoots })}${written ? '' : ', and the store takes no count'}`;
        await condemn(deps, { source, content: { kubeletConfigKey, contentSha256 }, reason, evidence });
      }
    }
  } catch (error) {
    log.error('this boot cannot be counted against the config on trial', { error });
  }
  if (boot.stoppedIn !== undefined) await cleanStop.clear();
  return boot;
}
