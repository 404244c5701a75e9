import { StandIn } from '../boot/stand-in.ts';
import type { Running } from './agent-context.ts';
import type { Millis } from '../../base/clock.ts';

const PERIOD_MS: Millis = 30_000;

/**
 * Takes what had to be kept in memory, since the disk took no writes, back to the disk as soon as it takes them: the condemnations, and the file that
 * the kubelet reads. Ends when nothing is left there, or with the departure.
 */
export async function returnToDisk({ options, world, store, departure }: Running): Promise<void> {
  const { clock, disk, log } = world;
  const { signal } = departure;
  const standIn = new StandIn(options, disk);
  for (let failures = 0; !signal.aborted; failures++) {
    try {
      const isSettled = await store.settleCondemned();
      const bytes = options.kubeletUnit === '' ? undefined : await standIn.read();
      if (bytes) {
        // The same bytes: kubelet-sync compares, and restarts nothing.
        await disk.replace(options.effectiveConfig, bytes, 0o600);
        await standIn.remove();
      }
      if (isSettled) {
        if (failures > 0) log.info('the disk takes writes again: nothing is kept in memory any more');
        return;
      }
    } catch (error) {
      log[failures === 0 ? 'error' : 'debug']('the disk takes no writes; what it should hold is kept in /run', { failures, error });
    }
    await clock.sleep(PERIOD_MS, signal).catch(() => {});
  }
}
