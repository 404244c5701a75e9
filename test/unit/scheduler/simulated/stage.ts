import type { Pod } from '../../../../scheduler/types.ts';
import type { Millis } from '../../../../base/clock.ts';
import { pods as podKind, statefulSets } from '../../../../kube/api/object.ts';
import type { AnyStage } from '../../../support/simulated/sweeping.ts';
import type { HollowNode } from '../../../support/hollow/hollow-node.ts';
import type { PodBuilder } from '../builders.ts';
import { audit } from './audit.ts';
import type { SchedulerWorld } from './world.ts';

/** What people do to a cluster, and how it stands then. */
export class Stage implements AnyStage {
  readonly #world: SchedulerWorld;

  constructor(world: SchedulerWorld) {
    this.#world = world;
  }

  begin(nodes: readonly (string | HollowNode)[]): void {
    this.#world.isLate = false;
    const { storage } = this.#world.api.hooks;
    for (const node of nodes) {
      const wanted = typeof node === 'string' ? { name: node, allocatable: { cpu: '4' } } : node;
      if (storage.get('/nodes', wanted.name) === undefined) this.#world.addNodes(wanted);
    }
  }

  async clear(): Promise<boolean> {
    const { api, user } = this.#world;
    const { storage } = api.hooks;
    for (const { metadata } of storage.list('apps/statefulsets').objects)
      await user.delete(statefulSets, { name: metadata.name ?? '', namespace: 'default' });
    // Pods of a set that is gone go by themselves; so do those on nodes, once a kubelet has seen to them.
    const gone = (): boolean => storage.list('/pods').objects.length === 0;
    for (const { metadata } of storage.list('/pods').objects) await this.delete(metadata.name ?? '').catch(() => {});
    if ((await this.#world.until(gone, 60_000)) === undefined) return false;
    return (await this.#world.until(() => this.problems().length === 0, 60_000)) !== undefined;
  }

  pass(ms: Millis): Promise<void> {
    return this.#world.clock.advance(ms);
  }

  isSettled(): boolean {
    return this.problems().length === 0;
  }

  /** What is wrong. */
  problems(): string[] {
    const { api, clock, parts } = this.#world;
    if (parts === undefined) return ['there is no scheduler'];
    const kept = parts.reservations.list().map(({ name, node }) => `there is a reservation for ${name} on ${node}`);
    return [...audit({ api, clock, parts }), ...kept];
  }

  /** Pods of sets where they are, others that are important, and all that is wrong. Who else has a place is a matter of who was first. */
  picture(): string {
    const pods = this.#world.pods();
    const ofSets = pods.filter(({ metadata }) => metadata.ownerReferences !== undefined).map(line);
    const important = pods
      .filter(({ spec }) => (spec?.priority ?? 0) > 0)
      .map((pod) => `${pod.metadata.name} ${isPlaced(pod) ? 'has' : 'waits for'} a place`);
    return [...ofSets, ...important, ...this.problems()].toSorted().join('\n');
  }

  /** As people write them, with a class for each priority: the server gives the rest. */
  add(...pods: readonly PodBuilder[]): void {
    const { api } = this.#world;
    for (const one of pods) {
      const { metadata, spec, ...rest } = one.build();
      const { namespace, name, labels, ownerReferences } = metadata;
      const { priority: value = 0, ...own } = spec ?? { containers: [] };
      const priorityClassName = `p${value}`;
      if (value !== 0 && api.hooks.storage.get('scheduling.k8s.io/priorityclasses', priorityClassName) === undefined)
        api.add({ apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name: priorityClassName }, value });
      const { apiVersion, kind } = rest;
      const written = { namespace, name, labels, ...(ownerReferences && { ownerReferences }) };
      api.add({ apiVersion, kind, metadata: written, spec: { ...own, ...(value !== 0 && { priorityClassName }) } });
    }
  }

  /** Of pods with one container of this many cpus. */
  addSet(name: string, cpu: string, more: Record<string, unknown> = {}, podSpec: object = {}): void {
    this.#own('StatefulSet', name, cpu, { serviceName: name, replicas: 3, ...more }, podSpec);
  }

  async roll(name: string, container: object, kind = statefulSets): Promise<void> {
    const change = { spec: { template: { spec: { containers: [{ name: 'c', ...container }] } } } };
    await this.#world.user.patch(kind, { name, namespace: 'default' }, change, { type: 'strategic' });
  }

  addDaemons(name: string, cpu: string, updateStrategy: object): void {
    this.#own('DaemonSet', name, cpu, { updateStrategy });
  }

  #own(kind: string, name: string, cpu: string, more: object, podSpec: object = {}): void {
    const labels = { app: name };
    const containers = [{ name: 'c', image: 'v1', resources: { requests: { cpu } } }];
    const template = { metadata: { labels }, spec: { containers, ...podSpec } };
    const spec = { selector: { matchLabels: labels }, template, ...more };
    this.#world.api.add({ apiVersion: 'apps/v1', kind, metadata: { name, namespace: 'default' }, spec });
  }

  async scale(name: string, replicas: number): Promise<void> {
    await this.#world.user.patch(statefulSets, { name, namespace: 'default' }, { spec: { replicas } }, { type: 'merge' });
  }

  async delete(name: string): Promise<void> {
    await this.#world.user.delete(podKind, { name, namespace: 'default' });
  }
}

const isPlaced = ({ spec }: Pod): boolean => (spec?.nodeName ?? '') !== '';

function line({ metadata, spec, status }: Pod): string {
  const going = metadata.deletionTimestamp === undefined ? '' : ' going';
  return `${metadata.name} ${spec?.containers[0]?.image} on ${spec?.nodeName ?? 'no node'} ${status?.phase}${going}`;
}
