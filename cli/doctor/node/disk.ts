import { dirname } from 'node:path';
import { failed, ok, the, warning, type Check, type Seen, type Verdict } from '../check.ts';

const MIB = 1024 * 1024;
/** A checkpoint has 1 MiB at most, and is there twice while it is replaced; the journal has less. */
const FULL_BYTES = 16 * MIB;
const LOW_BYTES = 100 * MIB;
const FULL_FILES = 100;
const LOW_FILES = 1000;

export interface DiskFacts {
  /** Directories that the agent writes to, with what is free there. */
  free: readonly { path: string; is: Seen<{ bytes: number; files: number | null }> }[];
  /** Of these, the ones on a mount that cannot be written. */
  readOnly: Seen<readonly string[]>;
  /** The agent keeps the kubelet's configuration in memory, since the disk took no write. */
  isVolatile: Seen<boolean>;
  effectiveConfig: string;
}

export const diskChecks: readonly Check<DiskFacts>[] = [
  { name: 'disk-space', wants: 'the file systems that the agent writes to have free bytes and inodes', decide: space },
  { name: 'disk-writable', wants: 'the file systems of the store and of the effective file are writable', decide: writable },
];

function space({ free }: DiskFacts): Verdict {
  const all = free.map(({ path, is }) => ({ path, ...the(is) }));
  const text = ({ path, bytes, files }: (typeof all)[number]): string =>
    `${path}: ${Math.floor(bytes / MIB)} MiB${files === null ? '' : ` and ${files} inodes`} free`;
  const below = (leastBytes: number, leastFiles: number) =>
    all.filter(({ bytes, files }) => bytes < leastBytes || (files ?? leastFiles) < leastFiles);
  const remedy = 'free some space: dkc checkpoints prune, journalctl --vacuum-size=200M, unused images';
  const full = below(FULL_BYTES, FULL_FILES);
  if (full.length > 0) return failed(full.map(text).join('; '), remedy);
  const low = below(LOW_BYTES, LOW_FILES);
  if (low.length > 0) return warning(low.map(text).join('; '), remedy);
  return ok(all.map(text).join('; '));
}

function writable({ readOnly, isVolatile, effectiveConfig }: DiskFacts): Verdict {
  const stuck = the(readOnly);
  if (stuck.length > 0)
    return failed(
      `${stuck.join(' and ')} cannot be written: the mount is read-only`,
      `find the reason with dmesg; then run mount -o remount,rw on the file system of ${stuck[0]}`,
    );
  if (the(isVolatile))
    return warning(
      `the kubelet reads its configuration from /run, because ${dirname(effectiveConfig)} was not writable before`,
      'systemctl restart dkc-agent writes the file back to disk; journalctl -u dkc-agent shows the errors of the disk',
    );
  return ok('the directories are writable');
}
