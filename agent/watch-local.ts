import { dirname } from 'node:path';
import { effectiveOfLocal, parseLocal } from './judge/local.ts';
import type { Running } from './running.ts';
import { sha256 } from './store/content.ts';
import { describeError, errorCode } from '../base/errors.ts';

/** Many editors and installers write a file in several steps: what is read this long after a change, in ms, is most likely whole. */
const SETTLES_MS = 300;

/**
 * What a change of the local config asks for: another start where the effective file is made of it, another look at what policy refused
 * elsewhere. A local config that is gone or broken changes nothing: the file the kubelet has is better.
 * @returns to be called after each change
 */
export function localConfigWatch({ options, world, situation, departure, kubelet }: Running, onOther: () => void): () => Promise<void> {
  const { disk, clock, log } = world;
  let known: string | undefined;
  const look = async (): Promise<void> => {
    const bytes = await disk.readLinked(options.localConfig).catch((error: unknown) => {
      if (errorCode(error) !== 'ENOENT')
        log.warn('local config cannot be read', { path: options.localConfig, error: describeError(error) });
      return undefined;
    });
    const before = known;
    known = bytes && sha256(bytes);
    if (bytes === undefined || known === before) return;
    const local = parseLocal(bytes, dirname(options.localConfig), kubelet.version);
    if (local.at !== 'present') {
      log.warn('local config changed and cannot be used; the effective file stays', { path: options.localConfig });
      return;
    }
    const { used, effectiveSha256 } = situation.active;
    if (used === 'local' && sha256(effectiveOfLocal(local)) !== effectiveSha256) await departure.leave('the local config changed');
    else if (used !== 'local' && options.merge === 'overlay' && before !== undefined)
      await departure.leave('the local config under the overlay changed');
    else onOther();
  };
  return async () => {
    await clock.sleep(SETTLES_MS, departure.signal).catch(() => {});
    if (!departure.signal.aborted) await look();
  };
}
