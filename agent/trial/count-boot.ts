import { inThisBoot, type ThisBoot } from './boots.ts';
import type { CleanStop } from './clean-stop.ts';
import { condemn, type CondemnDeps } from './condemn.ts';
import { exitsText } from './next.ts';
import { sourceText } from '../checkpoint/source.ts';
import type { AgentOptions } from '../options.ts';
import { sameContent } from '../store/content.ts';

export interface CountBootDeps extends CondemnDeps {
  options: Pick<AgentOptions, 'maxKubeletExits'>;
  cleanStop: CleanStop;
  bootId: string;
}

/**
 * Counts this boot of the machine against the config on trial, where it has to, before the config of this start is chosen: one that took the
 * machine down too often must not meet a kubelet again. Never throws.
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
        log.warn('the machine came up without a clean stop while a config is on trial: it counts as an exit of the kubelet', {
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
      // A count that no later boot would find cannot reach its limit: one is enough then.
      const isTooMuch = uncleanBoots >= options.maxKubeletExits || !written;
      if (isCounted && isTooMuch) {
        const evidence = [`${new Date(clock.now()).toISOString()} boot ${bootId} came without a clean stop of boot ${old.bootId}`];
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
