import { labelSelectorOf, type LabelSelector, type LabelSelectorObject } from '../../kube/api/selector.ts';
import { hash } from 'node:crypto';

/** The selector of an object. One that no API server takes selects nothing: a single odd object must not stop all others. */
export function readSelector(object: LabelSelectorObject): LabelSelector | undefined {
  try {
    return labelSelectorOf(object);
  } catch {
    return undefined;
  }
}

/** The same text for selectors that ask the same in the same order; undefined is one of its own. */
export function selectorText(selector: LabelSelector | undefined): string {
  return JSON.stringify(selector ?? null, (_key, value: unknown) => (typeof value === 'bigint' ? `${value}` : value));
}

/** Keys up to this length are kept as they are. */
const MAX_KEY = 1_024;

/** The same short text for the same long one: keys outlive the object that they were made from, which may be of a megabyte. */
export function compactKey(text: string): string {
  return text.length <= MAX_KEY ? text : `sha256:${hash('sha256', text)}`;
}
