import type { NodeSelector } from 'kubernetes-types/core/v1.js';
import type { Millis } from '../../base/clock.ts';
import type { LeaseOptions } from '../../kube/process/leadership.ts';
import { defaultFilters, type FilterName, type ScoreName, scoreWeights } from '../plugins/names.ts';

/** A utilization of a node, and the points (0 to 100) that it gets then. */
export interface ShapePoint {
  readonly utilization: number;
  readonly score: number;
}

export interface ResourceWeight {
  readonly name: string;
  readonly weight: number;
}

export interface ScoringStrategy {
  readonly type: 'LeastAllocated' | 'MostAllocated' | 'RequestedToCapacityRatio';
  readonly resources: readonly ResourceWeight[];
  /** Only for RequestedToCapacityRatio, by rising utilization. */
  readonly shape: readonly ShapePoint[];
}

/** A default topology spread constraint, for pods that have none themselves. */
export interface DefaultConstraint {
  readonly topologyKey: string;
  readonly maxSkew: number;
}

export interface ProfileConfig {
  readonly schedulerName: string;
  /** Enabled filters. */
  readonly filters: ReadonlySet<FilterName>;
  /** Enabled score plugins, and their weights; never 0. */
  readonly scores: ReadonlyMap<ScoreName, number>;
  readonly fit: {
    readonly strategy: ScoringStrategy;
    /** Includes the resources that only extenders handle (`ignoredByScheduler`). */
    readonly ignoredResources: ReadonlySet<string>;
    /** Domains such as `example.com`. */
    readonly ignoredResourceGroups: ReadonlySet<string>;
  };
  readonly balanced: {
    readonly resources: readonly ResourceWeight[];
    /** What is scored: the improvement of the balance by the pod, as from 1.36 on, or the balance with the pod, as before. */
    readonly points: 'improvement' | 'balance';
  };
  readonly nodeAffinity: { readonly addedAffinity: NodeSelector | undefined };
  /** Points for the storage utilization of a node, by rising utilization. Empty: no points, as up to 1.36. */
  readonly volumeBinding: { readonly shape: readonly ShapePoint[] };
  readonly interPod: { readonly hardPodAffinityWeight: number; readonly ignorePreferredTermsOfExistingPods: boolean };
  /** `system`: the built-in default constraints, which also count nodes without their labels. */
  readonly spread: { readonly defaults: 'system' | readonly DefaultConstraint[] };
}

/** An extender, which is called over HTTP. At most one of all has a `bindVerb`. */
export interface ExtenderConfig {
  readonly urlPrefix: string;
  /** '' for any verb: the extender is not called for it. */
  readonly filterVerb: string;
  readonly prioritizeVerb: string;
  readonly bindVerb: string;
  readonly preemptVerb: string;
  /** Weight of its points; 1 or more if there is a `prioritizeVerb`. */
  readonly weight: number;
  readonly enableHttps: boolean;
  readonly tls: {
    readonly insecure: boolean;
    readonly serverName: string | undefined;
    readonly certFile: string | undefined;
    readonly keyFile: string | undefined;
    readonly caFile: string | undefined;
    /** PEM text, like the other two; takes precedence over the file. */
    readonly certData: string | undefined;
    readonly keyData: string | undefined;
    readonly caData: string | undefined;
  };
  readonly httpTimeoutMs: Millis;
  readonly nodeCacheCapable: boolean;
  readonly ignorable: boolean;
  readonly managedResources: readonly { readonly name: string; readonly ignoredByScheduler: boolean }[];
}

export interface ReservationConfig {
  readonly enabled: boolean;
  readonly reserveOn: 'upgrade' | 'recreate';
  readonly placement: 'prefer' | 'score';
  readonly ttlMs: Millis;
  readonly claimedTtlMs: Millis;
  readonly upgradeFirst: boolean;
  /** `apps/StatefulSet`, and other kinds that name their pods in the same way. */
  readonly ownerKinds: ReadonlySet<string>;
  readonly daemonSets: boolean;
  readonly persist: 'none' | 'annotation';
  /** Placeholder pods show reservations to other schedulers. */
  readonly mirror: boolean;
  /** Image of the placeholder pods. Set wherever `mirror` has an effect. */
  readonly mirrorImage: string | undefined;
}

/** The complete configuration of a scheduler, with defaults applied. */
export interface SchedulerConfig {
  /** By scheduler name. Never empty. */
  readonly profiles: ReadonlyMap<string, ProfileConfig>;
  readonly percentageOfNodesToScore: number;
  readonly initialBackoffMs: Millis;
  readonly maxBackoffMs: Millis;
  readonly unschedulableFlushMs: Millis;
  /** 0: never. */
  readonly assumeTtlMs: Millis;
  readonly preemption: {
    readonly enabled: boolean;
    readonly minCandidateNodesPercentage: number;
    readonly minCandidateNodesAbsolute: number;
    readonly async: boolean;
  };
  readonly extenders: readonly ExtenderConfig[];
  readonly reservation: ReservationConfig;
  readonly compat: {
    readonly taintMessage: '1.34' | 'head';
    /** 100 or 10. */
    readonly scoreRange: number;
    readonly tieBreak: 'random' | 'roundRobin';
    readonly seed: number | undefined;
  };
  readonly api: {
    readonly maxInflightBinds: number;
    readonly maxInflightStatus: number;
    readonly maxInflightEvents: number;
    readonly pageSize: number;
  };
  readonly volumeBindTimeoutMs: Millis;
  /** Command line flags take precedence. The lease is set even without leader election. */
  readonly leaderElection: { readonly enabled: boolean; readonly lease: Required<LeaseOptions> };
}

/** Scheduler of a pod that names none, as the API server defaults it. */
export const DEFAULT_SCHEDULER_NAME = 'default-scheduler';

const cpuAndMemory: readonly ResourceWeight[] = [
  { name: 'cpu', weight: 1 },
  { name: 'memory', weight: 1 },
];

/** Plugins of an empty profile, each with its default weight. */
export const defaultProfile: Omit<ProfileConfig, 'schedulerName'> = {
  filters: new Set(defaultFilters),
  scores: new Map(Object.entries(scoreWeights) as [ScoreName, number][]),
  fit: {
    strategy: { type: 'LeastAllocated', resources: cpuAndMemory, shape: [] },
    ignoredResources: new Set(),
    ignoredResourceGroups: new Set(),
  },
  balanced: { resources: cpuAndMemory, points: 'improvement' },
  nodeAffinity: { addedAffinity: undefined },
  volumeBinding: { shape: [] },
  interPod: { hardPodAffinityWeight: 1, ignorePreferredTermsOfExistingPods: false },
  spread: { defaults: 'system' },
};

/** An extender without any verb. */
export const defaultExtender: Omit<ExtenderConfig, 'urlPrefix'> = {
  filterVerb: '',
  prioritizeVerb: '',
  bindVerb: '',
  preemptVerb: '',
  weight: 1,
  enableHttps: false,
  tls: {
    insecure: false,
    serverName: undefined,
    certFile: undefined,
    keyFile: undefined,
    caFile: undefined,
    certData: undefined,
    keyData: undefined,
    caData: undefined,
  },
  httpTimeoutMs: 5_000,
  nodeCacheCapable: false,
  ignorable: false,
  managedResources: [],
};

/** The configuration of an empty file. */
export const defaultSchedulerConfig = {
  profiles: new Map([[DEFAULT_SCHEDULER_NAME, { schedulerName: DEFAULT_SCHEDULER_NAME, ...defaultProfile }]]),
  percentageOfNodesToScore: 0,
  initialBackoffMs: 1_000,
  maxBackoffMs: 10_000,
  unschedulableFlushMs: 300_000,
  assumeTtlMs: 0,
  preemption: { enabled: true, minCandidateNodesPercentage: 10, minCandidateNodesAbsolute: 100, async: true },
  extenders: [],
  reservation: {
    enabled: true,
    reserveOn: 'upgrade',
    placement: 'prefer',
    ttlMs: 60_000,
    claimedTtlMs: 300_000,
    upgradeFirst: true,
    ownerKinds: new Set(['apps/StatefulSet']),
    daemonSets: false,
    persist: 'none',
    mirror: false,
    mirrorImage: undefined,
  },
  compat: { taintMessage: '1.34', scoreRange: 100, tieBreak: 'random', seed: undefined },
  api: { maxInflightBinds: 64, maxInflightStatus: 16, maxInflightEvents: 8, pageSize: 500 },
  volumeBindTimeoutMs: 600_000,
  leaderElection: {
    enabled: true,
    lease: { namespace: 'kube-system', name: 'dkc-scheduler', leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 },
  },
} as const satisfies SchedulerConfig;
