import { stringWithin } from './json-head.ts';
import type { ObjectMeta } from '../api/object.ts';

/** What is known of an object that has more bytes than a client takes. */
export interface TooLarge {
  /** Of a watch event; undefined in a list, and where it could not be read. */
  type: string | undefined;
  /** Which object in which version; undefined where its first megabyte does not say so. */
  metadata: (Pick<ObjectMeta, 'namespace'> & Required<Pick<ObjectMeta, 'name' | 'uid' | 'resourceVersion'>>) | undefined;
}

/** Bytes of an object beyond the limit that are kept to read its name from: typed kinds are written with their metadata first. */
export const HEAD_BYTES = 1024 * 1024;

/** @param head - the first bytes of the object's JSON text, or of its watch event's. @param path - to the object */
export function tooLargeFrom(head: Uint8Array, path: readonly string[] = []): TooLarge {
  const of = (field: string): string | undefined => stringWithin(head, [...path, 'metadata', field]);
  const [name, namespace, uid, resourceVersion] = [of('name'), of('namespace'), of('uid'), of('resourceVersion')];
  const type = path.length === 0 ? undefined : stringWithin(head, ['type']);
  if (name === undefined || uid === undefined || resourceVersion === undefined) return { type, metadata: undefined };
  return { type, metadata: { name, uid, resourceVersion, ...(namespace === undefined ? {} : { namespace }) } };
}
