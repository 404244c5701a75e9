import type { Affinity, Container, PodSpec, Taint, Toleration } from 'kubernetes-types/core/v1.js';
import type { Node, Pod } from '../../../scheduler/types.ts';

/*
 * Objects of a scheduler's tests in one line: `pod('web-0').on('node-a').cpu('500m').build()`.
 */

export class PodBuilder {
  readonly #pod: Pod;

  constructor(path: string) {
    const [namespace, name] = path.includes('/') ? (path.split('/') as [string, string]) : ['default', path];
    this.#pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { namespace, name, uid: `uid-${namespace}-${name}`, resourceVersion: '1', labels: {} },
      spec: { containers: [{ name: 'main', image: 'app:1', resources: { requests: {} } }], schedulerName: 'default-scheduler' },
      status: { phase: 'Pending' },
    };
  }

  #spec(more: Partial<PodSpec>): this {
    Object.assign(this.#pod.spec ?? {}, more);
    return this;
  }

  uid(uid: string): this {
    this.#pod.metadata.uid = uid;
    return this;
  }

  #first(): Container {
    const first = this.#pod.spec?.containers[0];
    if (first === undefined) throw new RangeError('the pod has no container');
    return first;
  }

  on(nodeName: string): this {
    return this.#spec({ nodeName });
  }

  /** Any resource of the first container. */
  asks(resource: string, amount: string): this {
    const first = this.#first();
    first.resources = { requests: { ...first.resources?.requests, [resource]: amount } };
    return this;
  }

  cpu(amount: string): this {
    return this.asks('cpu', amount);
  }

  memory(amount: string): this {
    return this.asks('memory', amount);
  }

  image(image: string): this {
    this.#first().image = image;
    return this;
  }

  port(hostPort: number, protocol = 'TCP', hostIP?: string): this {
    const first = this.#first();
    first.ports = [...(first.ports ?? []), { containerPort: hostPort, hostPort, protocol, ...(hostIP === undefined ? {} : { hostIP }) }];
    return this;
  }

  priority(priority: number): this {
    return this.#spec({ priority });
  }

  labels(labels: Record<string, string>): this {
    this.#pod.metadata.labels = { ...this.#pod.metadata.labels, ...labels };
    return this;
  }

  selects(nodeSelector: Record<string, string>): this {
    return this.#spec({ nodeSelector });
  }

  tolerates(...tolerations: Toleration[]): this {
    return this.#spec({ tolerations });
  }

  affinity(affinity: Affinity): this {
    return this.#spec({ affinity: { ...this.#pod.spec?.affinity, ...affinity } });
  }

  ownedBy(kind: string, name: string, uid = `uid-${name}`): this {
    const apiVersion = kind === 'ReplicationController' ? 'v1' : 'apps/v1';
    this.#pod.metadata.ownerReferences = [{ apiVersion, kind, name, uid, controller: true }];
    return this;
  }

  terminating(at = '2026-01-01T00:00:00Z'): this {
    this.#pod.metadata.deletionTimestamp = at;
    return this;
  }

  /** Whatever there is no word for. */
  spec(more: Partial<PodSpec>): this {
    return this.#spec(more);
  }

  build(): Pod {
    return this.#pod;
  }
}

export class NodeBuilder {
  readonly #node: Node;

  constructor(name: string) {
    const allocatable = { cpu: '4', memory: '8Gi', 'ephemeral-storage': '100Gi', pods: '110' };
    this.#node = {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name, uid: `uid-${name}`, resourceVersion: '1', labels: { 'kubernetes.io/hostname': name } },
      spec: {},
      status: { allocatable, capacity: allocatable },
    };
  }

  has(resource: string, amount: string): this {
    const allocatable = { ...this.#node.status?.allocatable, [resource]: amount };
    Object.assign(this.#node, { status: { ...this.#node.status, allocatable, capacity: allocatable } });
    return this;
  }

  cpu(amount: string): this {
    return this.has('cpu', amount);
  }

  memory(amount: string): this {
    return this.has('memory', amount);
  }

  labels(labels: Record<string, string>): this {
    this.#node.metadata.labels = { ...this.#node.metadata.labels, ...labels };
    return this;
  }

  zone(zone: string, region = 'r'): this {
    return this.labels({ 'topology.kubernetes.io/zone': zone, 'topology.kubernetes.io/region': region });
  }

  taints(...taints: Taint[]): this {
    this.#node.spec = { ...this.#node.spec, taints };
    return this;
  }

  cordoned(): this {
    this.#node.spec = { ...this.#node.spec, unschedulable: true };
    return this;
  }

  declares(...declaredFeatures: string[]): this {
    Object.assign(this.#node, { status: { ...this.#node.status, declaredFeatures } });
    return this;
  }

  image(name: string, sizeBytes: number): this {
    Object.assign(this.#node, {
      status: { ...this.#node.status, images: [...(this.#node.status?.images ?? []), { names: [name], sizeBytes }] },
    });
    return this;
  }

  build(): Node {
    return this.#node;
  }
}

export const pod = (path: string): PodBuilder => new PodBuilder(path);
export const node = (name: string): NodeBuilder => new NodeBuilder(name);
