import { coreEvents, daemonSets, type KubeObject, namespaces, type Resource } from '../../../kube/api/object.ts';
import type { EventType } from '../../../kube/controller/event.ts';
import { eventually } from '../eventually.ts';
import { hollowNodes } from '../hollow/hollow-node.ts';
import type { World } from './world.ts';

const NAMESPACE = 'fence';
const NODE = 'fence';
const LOOKED_AT = 'looked-at';
const WITHIN_MS = 120_000;

/**
 * Tells silence from standing still: the controller of a kind is given something of its own to do, and shows by it that it is at work. A server, a store or a
 * controller that is held up for seconds holds this up as well.
 */
export class Fence {
  readonly #world: World;
  readonly #kind: Resource;
  #open: Promise<unknown> | undefined;
  #looks = 0;
  #tales = 0;

  /** @param kind - DaemonSets or StatefulSets; the world has to watch them */
  constructor(world: World, kind: Resource) {
    this.#world = world;
    this.#kind = kind;
  }

  /** Resolves once the controller has looked at a change of this very moment: what it knew of before is done, or under way. */
  async passed(): Promise<void> {
    const { client } = this.#world;
    await (this.#open ??= this.#prepare());
    this.#looks += 1;
    const rollingUpdate = this.#kind === daemonSets ? { maxUnavailable: this.#looks } : { partition: this.#looks };
    const patch = { spec: { updateStrategy: { rollingUpdate } } };
    const { metadata } = await client.patch(this.#kind, { name: LOOKED_AT, namespace: NAMESPACE }, patch, { type: 'merge' });
    const { generation = 0 } = metadata;
    const isSeen = (): boolean => observed(this.#world.held(this.#kind, `${NAMESPACE}/${LOOKED_AT}`)) >= generation;
    for (const end = performance.now() + WITHIN_MS; !isSeen();) {
      if (performance.now() > end) throw new Error(`the controller of ${this.#kind.resource} looks at nothing`);
      await this.#world.changed(NAMESPACE, 500);
    }
  }

  /**
   * Resolves once two events of this very moment have come, a normal one and a warning: those of before have come too, for of each type they are sent one
   * after the other.
   */
  async told(): Promise<void> {
    await (this.#open ??= this.#prepare());
    // New ones each time: only so many events are sent of one object.
    this.#tales += 1;
    const name = `told-${this.#tales}`;
    await Promise.all([this.#tell('Normal', name), this.#tell('Warning', `${name}-refused`, { priorityClassName: 'there-is-none' })]);
  }

  async #tell(type: EventType, name: string, spec = {}): Promise<void> {
    const { client } = this.#world;
    const { metadata } = await client.create(this.#kind, this.#set(name, 1, spec));
    const fieldSelector = `involvedObject.uid=${metadata.uid},type=${type}`;
    const events = async (): Promise<true | undefined> =>
      (await client.list<KubeObject>(coreEvents, { namespace: NAMESPACE, fieldSelector })).items.length > 0 ? true : undefined;
    await eventually(`the controller of ${this.#kind.resource} tells of ${name}`, events, WITHIN_MS);
    const body = { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Background' };
    await client.delete(this.#kind, { name, namespace: NAMESPACE }, { body });
  }

  async #prepare(): Promise<void> {
    const { client, fleet } = this.#world;
    await client.create<KubeObject>(namespaces, { metadata: { name: NAMESPACE } });
    await fleet.add(hollowNodes(1, NODE, { labels: { story: NAMESPACE } }));
    await client.create(this.#kind, this.#set(LOOKED_AT, 0));
  }

  /**
   * @param pods - 0 or 1
   * @param more - of the pod's spec
   */
  #set(name: string, pods: number, more = {}): KubeObject & { spec: object } {
    const { kind } = this.#kind;
    const labels = { fence: name };
    const nodeSelector = { story: pods === 0 ? 'none' : NAMESPACE };
    const template = { metadata: { labels }, spec: { nodeSelector, containers: [{ name: 'main', image: 'app:1' }], ...more } };
    const spec = { selector: { matchLabels: labels }, template };
    const object = { apiVersion: 'apps/v1', kind, metadata: { name, namespace: NAMESPACE } };
    return this.#kind === daemonSets ? { ...object, spec } : { ...object, spec: { ...spec, serviceName: name, replicas: pods } };
  }
}

function observed(set: Readonly<KubeObject> | undefined): number {
  const { observedGeneration = 0 } = (set?.['status'] ?? {}) as { observedGeneration?: number };
  return observedGeneration;
}
