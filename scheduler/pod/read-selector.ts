import { labelSelectorOf, type LabelSelector, type LabelSelectorObject } from '../../kube/api/selector.ts';

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
