import { FsStore } from '../../../../agent/store/fs-store.ts';
import { type Disk, realDisk } from '../../../../base/disk.ts';
import { flock, type Locks } from '../../../../base/lock.ts';
import { storeContract } from '../../../support/contracts/store-contract.ts';
import type { Home } from '../../../support/contracts/store-home.ts';
import { CrashDisk } from '../../../support/crash-disk.ts';
import { waitingLocks } from '../../../../cli/demo/fleet/memory-disk.ts';
import { tempDir } from '../../../support/temp-dir.ts';

storeContract('a disk in memory', async () => homeOn(new CrashDisk().disk(), waitingLocks(), '/var/lib/dkc'));
storeContract('the real disk', async (t) => homeOn(realDisk, flock, `${await tempDir(t)}/dkc`));

function homeOn(disk: Disk, locks: Locks, root: string): Home {
  const damage: string[] = [];
  let now = Date.UTC(2026, 0, 1);
  const clock = { now: () => now, monotonic: () => now };
  return { open: () => new FsStore({ disk, locks, root, clock, onDamage: (path) => void damage.push(path) }), disk, root, setNow: (ms) => void (now = ms), damage }; // prettier-ignore
}
