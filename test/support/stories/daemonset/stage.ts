import assert from 'node:assert/strict';
import type { DaemonSetSpec } from 'kubernetes-types/apps/v1.js';
import type { PodSpec } from 'kubernetes-types/core/v1.js';
import type { DaemonSet, Pod } from '../../../../controllers/common/types.ts';
import { daemonSets } from '../../../../kube/api/object.ts';
import { Stage as WorkloadStage } from '../stage.ts';
import type { World } from '../world.ts';

export interface SetOptions {
  /** @default 'web' */
  name?: string;
  /** @default 'app:1' */
  image?: string;
  /** Merged over the template's pod spec. */
  pod?: Partial<PodSpec>;
  annotations?: Record<string, string>;
  spec?: Partial<Omit<DaemonSetSpec, 'template' | 'selector'>>;
}

/** Counters of a status, by short names. */
export type Figures = { desired?: number; current?: number; ready?: number; available?: number; updated?: number; misscheduled?: number };

/** More than a second, so that pods made in different steps differ in age. */
const QUIET_MS = 1_100;

/** Stories of DaemonSets. */
export class Stage extends WorkloadStage<DaemonSet> {
  static async open(world: World, name: string): Promise<Stage> {
    const stage = new Stage(world, name);
    await stage.makeNamespace();
    return stage;
  }

  private constructor(world: World, name: string) {
    super(world, name, { resource: daemonSets, cache: ({ sets }) => sets, quietMs: QUIET_MS });
  }

  create(options: SetOptions = {}): Promise<DaemonSet> {
    return this.createSet(this.manifest(options));
  }

  /** Makes so many nodes and a set, and waits until it is rolled out. */
  async running(nodes: number, options: Omit<SetOptions, 'name'> = {}): Promise<void> {
    await this.nodes(nodes);
    await this.create(options);
    await this.rolledOut();
  }

  /** A set for the nodes of this story. */
  manifest({ name = 'web', image = 'app:1', pod = {}, annotations, spec = {} }: SetOptions = {}): DaemonSet {
    const app = this.appLabels(name);
    return {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: { name, namespace: this.name, ...(annotations === undefined ? {} : { annotations }) },
      spec: {
        selector: { matchLabels: app },
        ...spec,
        template: {
          metadata: { labels: app },
          spec: {
            terminationGracePeriodSeconds: 5,
            ...pod,
            nodeSelector: { story: this.name, ...pod.nodeSelector },
            containers: [{ name: 'main', image }],
          },
        },
      },
    };
  }

  /** The one pod on node `n` (of set `app`) that is not terminating. */
  podOn(n: number, app = 'web'): Readonly<Pod> {
    const there = this.pods().filter(({ spec, metadata }) => spec?.nodeName === this.node(n) && metadata.deletionTimestamp === undefined);
    const [pod, ...more] = there.filter(({ metadata }) => metadata.labels?.['app'] === app);
    assert.ok(pod !== undefined && more.length === 0, `not one pod on node ${n}`);
    return pod;
  }

  /** The set's status says so, for its present generation; and then nothing changes for a while. */
  async shows(figures: Figures, name = 'web'): Promise<void> {
    await this.comesTo(`${name} shows ${JSON.stringify(figures)}`, () => {
      const status = this.status(name);
      const seen = status && figuresOf(status);
      return seen !== undefined && Object.entries(figures).every(([field, value]) => seen[field as keyof Figures] === value);
    });
  }

  /** All of the set's pods are of its template and available, and none is left that terminates. */
  async rolledOut(name = 'web'): Promise<void> {
    await this.comesTo(`${name} is rolled out`, () => {
      const status = this.status(name);
      if (status === undefined) return false;
      const { desired, available, updated } = figuresOf(status);
      const { uid } = this.set(name).metadata;
      const own = this.pods().filter(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.uid === uid));
      return desired === available && desired === updated && own.length === desired + (status.numberMisscheduled ?? 0);
    });
  }
}

function figuresOf(status: NonNullable<DaemonSet['status']>): Required<Figures> {
  return {
    desired: status.desiredNumberScheduled,
    current: status.currentNumberScheduled,
    ready: status.numberReady,
    available: status.numberAvailable ?? 0,
    updated: status.updatedNumberScheduled ?? 0,
    misscheduled: status.numberMisscheduled,
  };
}
