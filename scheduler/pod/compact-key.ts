import { hash } from 'node:crypto';

/** Keys up to this length are kept as they are. */
const MAX_KEY = 1_024;

/** The same short text for the same long one: keys outlive the object that they were made from, which may be of a megabyte. */
export function compactKey(text: string): string {
  return text.length <= MAX_KEY ? text : `sha256:${hash('sha256', text)}`;
}
