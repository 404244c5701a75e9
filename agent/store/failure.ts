import { describeError, errorCode } from '../../base/errors.ts';
import { StoreError } from './store.ts';

const remedies: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full: make room on it',
  EDQUOT: 'the disk quota is used up: make room',
  EROFS: 'its file system is read-only: find out why in the kernel log, then remount it writable',
  EACCES: 'permission denied: run this as root',
  EPERM: 'not permitted: run this as root, and look for an immutable attribute',
  EIO: 'the disk failed: see the kernel log',
  ENOENT: 'it, or its directory, is not there: start the agent once to make the store',
  ENOTDIR: 'a part of its path is not a directory: move that away',
  EISDIR: 'a directory is in its place: move that away',
  EINVAL: 'something that is no regular file is in its place: move that away',
  ELOOP: 'a symbolic link is in its place: move that away',
};

/** What a disk error means to the person who has to mend it. */
export function remedy(error: unknown): string {
  return remedies[errorCode(error) ?? ''] ?? describeError(error);
}

/** Does `act`; what the disk throws comes out as a StoreError about `path`. */
export async function onPath<T>(action: string, path: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (cause) {
    if (cause instanceof StoreError) throw cause;
    throw new StoreError(action, path, { hint: remedy(cause), cause });
  }
}
