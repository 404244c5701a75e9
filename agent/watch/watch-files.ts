import { dirname, join } from 'node:path';
import { observeMeta, planMetaChange } from './record-changes.ts';
import { DEFAULT_POLICY_FILE } from '../options.ts';
import type { Running } from '../run/agent-context.ts';
import { layout } from '../store/layout.ts';
import { localConfigWatch } from './local-config.ts';
import { Signal } from '../../base/signal.ts';

/** Notices what others change on this node's disk: an admin's commands, an installer, the end of a kubelet. Works with the API server away. */
export async function watchMeta(running: Running): Promise<void> {
  const { options, world, store, situation, departure, trial, announcer } = running;
  const { signal } = departure;
  const paths = layout(options.dynamicConfigDir);
  // Where the disk takes no writes, condemnations lie beside the exits file.
  const records = [
    paths.condemned,
    join(dirname(options.kubeletExits), 'condemned.json'),
    paths.meta('assigned'),
    paths.meta('last-known-good'),
  ];
  const policy = options.policy === 'none' ? [] : [options.policy ?? DEFAULT_POLICY_FILE];
  const due = new Signal();
  const localDue = new Signal();
  // Something may have changed between boot and the first watch.
  due.raise();
  localDue.raise();
  const watching = world.watchFiles(
    [...records, paths.journal, options.kubeletExits, options.localConfig, ...policy],
    (path) => {
      if (path === options.kubeletExits) {
        trial.poke();
        running.kubeletWatch.poke();
      } else if (path === paths.journal) announcer.poke();
      else if (path === options.localConfig) localDue.raise();
      else if (policy.includes(path)) running.sync?.poke();
      else due.raise();
    },
    signal,
  );
  const recordsLoop = each(due, signal, async () => {
    const why = planMetaChange(await observeMeta(store, situation));
    if (why !== undefined) await departure.leave(why);
  });
  const localLoop = each(
    localDue,
    signal,
    localConfigWatch(
      running,
      () => running.sync?.poke(),
      (problem) => running.memo.notice('local-config', problem),
    ),
  );
  await Promise.all([watching, recordsLoop, localLoop]);

  async function each(raised: Signal, end: AbortSignal, look: () => Promise<void>): Promise<void> {
    while (!end.aborted) {
      await raised.wait(end);
      if (end.aborted) return;
      await look().catch((error: unknown) => world.log.warn('a change on disk cannot be followed', { error }));
    }
  }
}
