import { randomBytes } from 'node:crypto';
import type { Disk } from './disk.ts';
import { durableDisk, tempPrefix } from './durable-disk.ts';
import { nodeFs } from './raw-fs.ts';

/** The disk of this machine. The process id in a temporary name is for the person who finds one. */
export const realDisk: Disk = durableDisk(nodeFs, () => `${tempPrefix}${process.pid}-${randomBytes(6).toString('hex')}`);
