import type { KubeObject } from '../api/object.ts';

/**
 * Which of two resourceVersions of one kind is newer: below 0 when `a` is older, 0 when they are the same, above 0 when it is newer.
 * undefined where nothing can be said: officially versions are opaque, and only those of digits alone (all of them, so far) are counted up.
 */
export function compareVersions(a: string, b: string): number | undefined {
  if (a === b) return 0;
  if (!isCounted(a) || !isCounted(b)) return undefined;
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : 1;
}

/** Whether `a` is known to be older than `b`. */
export function isOlder(a: string, b: string): boolean {
  return (compareVersions(a, b) ?? 0) < 0;
}

/** Whether both are the same state of the same object. Objects without versions are never the same. */
export function isSameState(a: KubeObject, b: KubeObject): boolean {
  const { uid, resourceVersion } = a.metadata;
  return resourceVersion !== undefined && resourceVersion === b.metadata.resourceVersion && uid === b.metadata.uid;
}

function isCounted(version: string): boolean {
  return /^[1-9]\d*$/.test(version);
}
