import type { ServerFacts } from '../fleet/server-facts.ts';
import { matchesLabels } from '../../kube/api/selector.ts';
import type { Key } from '../../kube/cache/contract.ts';
import type { Caches } from './caches.ts';
import { Fleet } from './fleet.ts';
import { viewOf } from './node.ts';
import { rankOf } from './order.ts';
import type { Rules } from './rules.ts';

interface Followed {
  fleet: Fleet;
  /** Which nodes are its own follows from this. */
  selection: string;
  /** Names of nodes to read before the next plan. */
  changed: Set<string>;
}

/** Nodes that one look reads: those of a large fleet are read in several, so that no turn of the event loop is long. */
const MAX_READS = 500;

/** The fleets of all rollouts. A look reads the nodes that changed since the last one; all of them where what the rollout selects has changed. */
export class Fleets {
  readonly #followed = new Map<Key, Followed>();

  /** A node that this rollout selects, or selected, changed: tell it in the turn in which the cache changes. */
  changed(rollout: Key, node: string): void {
    this.#followed.get(rollout)?.changed.add(node);
  }

  forget(rollout: Key): void {
    this.#followed.delete(rollout);
  }

  /**
   * Reads nodes that changed, a part of them where they are many.
   * @param older - rollouts that have their nodes before this one, the oldest first
   * @returns the fleet; undefined: there are more to read
   */
  read(rules: Rules, older: readonly Rules[], caches: Pick<Caches, 'nodes' | 'nodeConfigs'>, serves: ServerFacts): Fleet | undefined {
    const selection = JSON.stringify([rules, ...older].map(({ name, uid, generation }) => [name, uid, generation]));
    let followed = this.#followed.get(rules.name);
    if (followed?.selection !== selection) {
      const all = caches.nodes.list().map(({ metadata }) => metadata.name ?? '');
      followed = { fleet: new Fleet(), selection, changed: new Set(all) };
      this.#followed.set(rules.name, followed);
    }
    const { fleet, changed } = followed;
    let reads = 0;
    for (const name of changed) {
      if (reads++ === MAX_READS) return undefined;
      changed.delete(name);
      const object = caches.nodes.get(name);
      const labels = object?.metadata.labels;
      const holder = older.find(({ selector }) => matchesLabels(selector, labels));
      if (object === undefined || !matchesLabels(rules.selector, labels)) fleet.delete(name);
      else if (holder === undefined) {
        fleet.set(viewOf(object, caches.nodeConfigs.get(name), serves));
        // Remembered: the turn that places all nodes is short of it.
        rankOf(name, rules.uid);
      } else fleet.setConflict(name, holder.name);
    }
    return fleet;
  }
}
