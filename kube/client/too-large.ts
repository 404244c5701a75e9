import { stringWithin } from './json-head.ts';
import type { ObjectMeta } from '../api/object.ts';

/** What is known of an object that has more bytes or more values than a client takes. */
export interface TooLarge {
  /** What it has too much of. */
  of: 'bytes' | 'values';
  /** Of a watch event; undefined in a list, and where it could not be read. */
  type: string | undefined;
  /** Which object in which version; undefined where its first megabyte does not say so. */
  metadata: (Pick<ObjectMeta, 'namespace'> & Required<Pick<ObjectMeta, 'name' | 'uid' | 'resourceVersion'>>) | undefined;
}

/** Bytes of an object beyond the limit that are kept to read its name from: typed kinds are written with their metadata first. */
export const HEAD_BYTES = 1024 * 1024;

/**
 * @param text - the object's JSON text, or its watch event's: of it, the first megabyte is looked at
 * @param path - to the object
 */
export function tooLargeFrom(text: Uint8Array, of: TooLarge['of'], path: readonly string[] = []): TooLarge {
  const head = text.subarray(0, HEAD_BYTES);
  const field = (name: string): string | undefined => stringWithin(head, [...path, 'metadata', name]);
  const [name, namespace, uid, resourceVersion] = [field('name'), field('namespace'), field('uid'), field('resourceVersion')];
  const type = path.length === 0 ? undefined : stringWithin(head, ['type']);
  if (name === undefined || uid === undefined || resourceVersion === undefined) return { of, type, metadata: undefined };
  return { of, type, metadata: { name, uid, resourceVersion, ...(namespace === undefined ? {} : { namespace }) } };
}
