import type { Millis } from '../base/clock.ts';
import type { SchedulerConfig } from './config/config.ts';
import type { Pending } from './queue/pending.ts';
import type { ReservationView } from './reservation/reporting.ts';
import type {
  Budget,
  Claim,
  CsiCapacity,
  CsiDriver,
  CsiNode,
  DeviceClass,
  Namespace,
  Node,
  Pod,
  ReplicaSet,
  Service,
  StatefulSet,
  StorageClass,
  Volume,
  VolumeAttachment,
} from './types.ts';

/** One line of an explanation. */
export interface Explained {
  /** What it is about: a pod (`ns/name`), a node. */
  object: string;
  /** One word, the same in every version. */
  reason: string;
  /** For people. */
  detail: string;
}

type All<T> = readonly Readonly<T>[];

/** A pod that waits for a place, and all of the cluster that decides over it, read once; in the order of the API server. */
export interface PodFacts {
  readonly pod: Readonly<Pod>;
  readonly config: SchedulerConfig;
  /** Those that have not ended, `pod` among them. */
  readonly pods: All<Pod>;
  readonly nodes: All<Node>;
  readonly namespaces: All<Namespace>;
  readonly services: All<Service>;
  readonly replicationControllers: All<ReplicaSet>;
  readonly replicaSets: All<ReplicaSet>;
  readonly statefulSets: All<StatefulSet>;
  readonly budgets: All<Budget>;
  readonly deviceClasses: All<DeviceClass>;
  readonly claims: All<Claim>;
  readonly volumes: All<Volume>;
  readonly storageClasses: All<StorageClass>;
  readonly csiNodes: All<CsiNode>;
  readonly csiDrivers: All<CsiDriver>;
  readonly capacities: All<CsiCapacity>;
  readonly attachments: All<VolumeAttachment>;
  /** What the scheduler that runs says of itself; undefined: nobody asked it. */
  readonly running: RunningFacts | undefined;
  readonly now: Millis;
}

/** What only the scheduler that runs knows. */
export interface RunningFacts {
  readonly rooms: readonly ReservationView[];
  /** How this pod stands in its queue; undefined: it is not there, or beyond what is listed. */
  readonly pending: Pending | undefined;
  /** How many more wait than are listed. */
  readonly unlisted: number;
}

/**
 * The scheduler's own decision, made anew: why the pod cannot be anywhere, for each reason how many nodes and the names of up to three, whether taking pods
 * away would help, and, unless `running.pending` says it, what would have it tried again. A line says where it would go if it can. Pure.
 */
export type ExplainPod = (facts: PodFacts) => readonly Explained[];
