import { durableDisk, tempPrefix } from '../../base/durable-disk.ts';
import { type Disk, nodeFs } from '../../base/disk.ts';

let made = 0;

/** The disk of this machine without its syncs: for tests that ask for what is written, not for what survives a power cut. */
export const unsyncedDisk: Disk = durableDisk(
  {
    ...nodeFs,
    open: async (path, how, mode) => ({ ...(await nodeFs.open(path, how, mode)), sync: async () => {} }),
  },
  () => `${tempPrefix}test-${process.pid}-${++made}`,
);
