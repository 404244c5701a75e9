import type { Affinity, Container, Taint, Toleration } from 'kubernetes-types/core/v1.js';
import type { Node, Pod } from '../../../scheduler/types.ts';

/*
 * Objects of a scheduler's tests in one line: `pod('web-0').on('node-a').cpu('500m').build()`.
 */

/** What objects of all kinds have in common. */
export class Builder<T extends { metadata: object; spec?: object; status?: object }> {
  readonly #object: T;

  constructor(object: T) {
    this.#object = object;
  }

  readonly build = (): T => this.#object;
  /** Whatever there is no word for. */
  readonly spec = (more: Partial<NonNullable<T['spec']>>): this => this.with(this.#object.spec, more);
  readonly status = (more: object): this => this.with(this.#object.status, more);
  readonly metadata = (more: Partial<T['metadata']>): this => this.with(this.#object.metadata, more);

  protected with(part: object | undefined, more: object): this {
    Object.assign(part ?? {}, more);
    return this;
  }
}

export class PodBuilder extends Builder<Pod> {
  constructor(path: string) {
    const [namespace, name] = path.includes('/') ? (path.split('/') as [string, string]) : ['default', path];
    super({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { namespace, name, uid: `uid-${namespace}-${name}`, resourceVersion: '1', labels: {} },
      spec: { containers: [{ name: 'main', image: 'app:1', resources: { requests: {} } }], schedulerName: 'default-scheduler' },
      status: { phase: 'Pending' },
    });
  }

  readonly uid = (uid: string): this => this.metadata({ uid });
  readonly labels = (labels: Record<string, string>): this => this.with(this.build().metadata.labels, labels);
  readonly terminating = (at = '2026-01-01T00:00:00Z'): this => this.metadata({ deletionTimestamp: at });
  readonly on = (nodeName: string): this => this.spec({ nodeName });
  readonly cpu = (amount: string): this => this.asks('cpu', amount);
  readonly memory = (amount: string): this => this.asks('memory', amount);
  readonly image = (image: string): this => this.with(this.#first, { image });
  readonly priority = (priority: number): this => this.spec({ priority });
  readonly selects = (nodeSelector: Record<string, string>): this => this.spec({ nodeSelector });
  readonly tolerates = (...tolerations: Toleration[]): this => this.spec({ tolerations });
  readonly affinity = (affinity: Affinity): this => this.spec({ affinity: { ...this.build().spec?.affinity, ...affinity } });

  /** Any resource of the first container. */
  asks(resource: string, amount: string): this {
    return this.with(this.#first.resources?.requests, { [resource]: amount });
  }

  port(hostPort: number, protocol = 'TCP', hostIP?: string): this {
    const one = { containerPort: hostPort, hostPort, protocol, ...(hostIP !== undefined && { hostIP }) };
    return this.with(this.#first, { ports: [...(this.#first.ports ?? []), one] });
  }

  ownedBy(kind: string, name: string, uid = `uid-${name}`): this {
    const apiVersion = kind === 'ReplicationController' ? 'v1' : 'apps/v1';
    return this.metadata({ ownerReferences: [{ apiVersion, kind, name, uid, controller: true }] });
  }

  get #first(): Container {
    return this.build().spec?.containers[0] ?? { name: 'none' };
  }
}

export class NodeBuilder extends Builder<Node> {
  constructor(name: string) {
    const allocatable = { cpu: '4', memory: '8Gi', 'ephemeral-storage': '100Gi', pods: '110' };
    super({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name, uid: `uid-${name}`, resourceVersion: '1', labels: { 'kubernetes.io/hostname': name } },
      spec: {},
      status: { allocatable, capacity: allocatable, images: [] },
    });
  }

  readonly cpu = (amount: string): this => this.has('cpu', amount);
  readonly memory = (amount: string): this => this.has('memory', amount);
  readonly labels = (labels: Record<string, string>): this => this.with(this.build().metadata.labels, labels);
  readonly taints = (...taints: Taint[]): this => this.spec({ taints });
  readonly cordoned = (): this => this.spec({ unschedulable: true });
  readonly declares = (...declaredFeatures: string[]): this => this.status({ declaredFeatures });

  has(resource: string, amount: string): this {
    const allocatable = { ...this.build().status?.allocatable, [resource]: amount };
    return this.status({ allocatable, capacity: allocatable });
  }

  zone(zone: string, region = 'r'): this {
    return this.labels({ 'topology.kubernetes.io/zone': zone, 'topology.kubernetes.io/region': region });
  }

  image(name: string, sizeBytes: number): this {
    return this.status({ images: [...(this.build().status?.images ?? []), { names: [name], sizeBytes }] });
  }
}

export const pod = (path: string): PodBuilder => new PodBuilder(path);
export const node = (name: string): NodeBuilder => new NodeBuilder(name);
