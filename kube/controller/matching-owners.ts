import { describeError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { KubeObject } from '../api/object.ts';
import { labelSelectorOf, matchesLabels, type LabelSelector, type LabelSelectorObject } from '../api/selector.ts';
import { objectKey, type Key, type Lister } from '../cache/contract.ts';

/** Owners that one line names. */
const MAX_NAMED = 10;
/** Groups of owners that were said to overlap, remembered. */
const MAX_SAID = 1_000;

/**
 * `owns.matching` for kinds that select what they own by labels, as DaemonSets and StatefulSets do: the owners in the orphan's namespace whose
 * selector matches its labels.
 *
 * An orphan without labels matches nobody, and an owner without a selector, or with an empty one, matches nothing: who asked for everything by
 * leaving something out did not mean it. An owner whose selector cannot be read is passed over, and the log says so once for each of its states.
 * Where several match they are all named, since reconcile alone may decide who adopts; their user made a mistake, which the log says once for these owners.
 *
 * @param selectorOf - such as `spec.selector`; called once for each state of an owner, whose selector is kept for as long as the state is
 */
export function matchingOwners<T extends KubeObject>(
  selectorOf: (owner: Readonly<T>) => LabelSelectorObject | null | undefined,
  log: Log,
): (orphan: Readonly<KubeObject>, owners: Pick<Lister<T>, 'list'>) => Key[] {
  // A cache has one object for each resourceVersion and never changes it, so the object stands for both, and nothing outlives it.
  const parsed = new WeakMap<Readonly<T>, LabelSelector>();
  const selects = (owner: Readonly<T>): LabelSelector => {
    const known = parsed.get(owner);
    if (known !== undefined) return known;
    const selector = parse(owner, selectorOf, log);
    parsed.set(owner, selector);
    return selector;
  };
  const said = new Set<string>();
  /** Each event of an orphan shows it: it is said once for these owners, and again at most after 1,000 others. */
  const overlap = (keys: readonly Key[], facts: { kind: string | undefined; object: Key }): void => {
    const pair = keys.slice(0, MAX_NAMED).toSorted();
    const text = pair.join(' ');
    if (said.has(text)) return;
    if (said.size >= MAX_SAID) said.clear();
    said.add(text);
    const more = keys.length > MAX_NAMED ? { more: keys.length - MAX_NAMED } : {};
    log.error('several owners select the same object; give them different selectors', { ...facts, owners: pair, ...more });
  };
  return ({ kind, metadata }, owners) => {
    const { namespace, labels = {} } = metadata;
    if (Object.keys(labels).length === 0) return [];
    const keys = owners
      .list(namespace)
      .filter((owner) => {
        const selector = selects(owner);
        return owner.metadata.namespace === namespace && selector.length > 0 && matchesLabels(selector, labels);
      })
      .map(objectKey);
    if (keys.length > 1) overlap(keys, { kind, object: objectKey({ metadata }) });
    return keys;
  };
}

/** @returns [], which selects nothing here, for what cannot be read too */
function parse<T extends KubeObject>(
  owner: Readonly<T>,
  selectorOf: (owner: Readonly<T>) => LabelSelectorObject | null | undefined,
  log: Log,
): LabelSelector {
  try {
    return labelSelectorOf(selectorOf(owner) ?? {});
  } catch (error) {
    log.warn('invalid selector; its owner adopts nothing', {
      kind: owner.kind,
      owner: objectKey(owner),
      error: describeError(error),
    });
    return [];
  }
}
