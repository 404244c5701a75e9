import { dirname } from 'node:path';
import { seen } from '../examine.ts';
import { the, Unseen, type Known } from '../check.ts';
import type { StoreFacts } from '../node/store.ts';
import type { NodeLook } from './node-look.ts';
import { observeNode } from '../../../agent/admin/observe.ts';
import { observe } from '../../../agent/boot/observe.ts';
import { FsStore } from '../../../agent/store/fs-store.ts';
import { layout } from '../../../agent/store/layout.ts';
import { ActionError, describeError, errorCode } from '../../../base/errors.ts';
import { silentLog } from '../../../base/log.ts';
import { validateFile } from '../../config/validate-file.ts';

export async function lookAtStore(look: NodeLook): Promise<StoreFacts> {
  const { context, options } = look;
  const { disk, locks, clock } = context;
  const { dynamicConfigDir, effectiveConfig, localConfig, kubeletExits } = options;
  const store = new FsStore({ disk, locks, clock, root: dynamicConfigDir, volatileDir: dirname(kubeletExits) });
  const found = await seen(async (): Promise<StoreAt> => {
    if ((await disk.stat(layout(dynamicConfigDir).store)) === undefined) return { at: 'absent' };
    const { problems, entries } = await observeNode({ store, disk, dynamicConfigDir, effectiveConfig, localConfig });
    return { at: 'there', problems, checkpoints: entries.length };
  });
  return {
    store: found,
    lastKnownGood: await seen(async () => {
      const { at, ...rest } = the(found);
      // Reading what is damaged would set it aside: that is the agent's to do.
      if (at === 'absent' || ('problems' in rest && rest.problems.length > 0)) throw new Unseen('the store is absent or damaged');
      const { facts } = await observe({ options, store, disk, clock, log: silentLog, kubelet: await look.kubelet() });
      return facts.lastKnownGood;
    }),
    local: await seen(() => localOf(look)),
    localConfig,
    dir: dynamicConfigDir,
  };
}

type StoreAt = Known<StoreFacts['store']>;
type LocalAt = Known<StoreFacts['local']>;

async function localOf(look: NodeLook): Promise<LocalAt> {
  const { context, options } = look;
  let bytes: Uint8Array;
  try {
    bytes = await context.disk.readLinked(options.localConfig);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return { at: 'missing' };
    if (['EACCES', 'EPERM'].includes(errorCode(error) ?? '')) throw error;
    return { at: 'broken', problem: error instanceof ActionError ? error.hint : describeError(error) };
  }
  const dir = dirname(options.localConfig);
  const { errors } = await validateFile(context, { bytes, dir, options, kubelet: await look.kubelet(), withPolicy: false, strict: false });
  return errors.length === 0 ? { at: 'usable' } : { at: 'refused', findings: errors };
}
