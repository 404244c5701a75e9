import type { KubeObject } from '../../kube/api/object.ts';
import { matchesLabels } from '../../kube/api/selector.ts';
import type { ServerFacts } from '../fleet/server-facts.ts';
import { type Caches, comesBefore } from '../rollout/observe.ts';
import { viewOf } from '../rollout/node.ts';
import type { Rules } from '../rollout/rules.ts';
import type { NodeConfigRollout } from '../rollout/types.ts';
import { memoize } from '../common/cached-objects.ts';
import { FleetModel } from './fleet-model.ts';
import type { Looked } from './node-detail.ts';
import { pageNode, pageRollout, standingsKey } from './views.ts';

type PageCaches = { [K in 'rollouts' | 'nodes' | 'nodeConfigs']: Pick<Caches[K], 'get' | 'list'> };

/**
 * Keeps the model in step with the caches. A change is only noted down; what it leads to is computed when somebody looks, so that a page that nobody has
 * open costs a set of names.
 */
export class FleetPicture {
  readonly model = new FleetModel();
  readonly #caches: PageCaches;
  readonly #serves: ServerFacts;
  readonly #rules: (rollout: Readonly<NodeConfigRollout>) => Rules;
  readonly #dirty = new Set<string>();
  /** Rules are read once for each version of a rollout, so this is too. */
  readonly #pageRollout = memoize(pageRollout);
  #rolloutsChanged = true;
  #ordered: readonly Rules[] = [];
  #standings: string | undefined;

  /** @param by.rules - called often: memoize it */
  constructor(by: { caches: PageCaches; serves: ServerFacts; rules: (rollout: Readonly<NodeConfigRollout>) => Rules }) {
    this.#caches = by.caches;
    this.#serves = by.serves;
    this.#rules = by.rules;
  }

  /** A Node or a NodeConfig of this name has changed. */
  nodeChanged({ metadata }: Readonly<KubeObject>): void {
    this.#dirty.add(metadata.name ?? '');
  }

  rolloutChanged(): void {
    this.#rolloutsChanged = true;
  }

  /** Brings the model to what the caches have now. */
  refresh(): void {
    if (this.#rolloutsChanged) this.#refreshRollouts();
    for (const name of this.#dirty) this.#refreshNode(name);
    this.#dirty.clear();
  }

  /** @returns undefined: there is no such node */
  look(name: string): Looked | undefined {
    this.refresh();
    const [object, page] = [this.#caches.nodes.get(name), this.model.node(name)];
    if (object === undefined || page === undefined) return undefined;
    return { page, node: viewOf(object, this.#caches.nodeConfigs.get(name), this.#serves), rules: this.#rulesOf(object) };
  }

  #refreshRollouts(): void {
    this.#rolloutsChanged = false;
    const there = this.#caches.rollouts.list();
    const names = new Set(there.map(({ metadata }) => metadata.name ?? ''));
    for (const { metadata } of this.#ordered.map(({ rollout }) => rollout))
      if (!names.has(metadata.name ?? '')) this.model.removeRollout(metadata.name ?? '');
    this.#ordered = there.toSorted((a, b) => (comesBefore(a, b) ? -1 : 1)).map(this.#rules);
    for (const rules of this.#ordered) this.model.setRollout(this.#pageRollout(rules));
    const standings = JSON.stringify(this.#ordered.map(({ rollout }) => standingsKey(rollout)));
    if (standings === this.#standings) return;
    this.#standings = standings;
    for (const { metadata } of this.#caches.nodes.list()) this.#dirty.add(metadata.name ?? '');
  }

  #refreshNode(name: string): void {
    const object = this.#caches.nodes.get(name);
    if (object === undefined) {
      this.model.removeNode(name);
      return;
    }
    const view = viewOf(object, this.#caches.nodeConfigs.get(name), this.#serves);
    this.model.setNode(pageNode(view, this.#rulesOf(object)));
  }

  /** Of the rollout that has a node. */
  #rulesOf({ metadata: { labels } }: Readonly<KubeObject>): Rules | undefined {
    return this.#ordered.find(
      ({ rollout, selector, problems }) =>
        problems.length === 0 && rollout.metadata.deletionTimestamp === undefined && matchesLabels(selector, labels),
    );
  }
}
