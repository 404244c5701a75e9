import { filterNames, scoreWeights, type ScoreName } from '../plugins/names.ts';
import type { ExtenderConfig, ProfileConfig, ResourceWeight, SchedulerConfig } from './config.ts';

/** Of a pod that names no scheduler, as the API server fills it in. */
export const DEFAULT_SCHEDULER_NAME = 'default-scheduler';

const cpuAndMemory: readonly ResourceWeight[] = [
  { name: 'cpu', weight: 1 },
  { name: 'memory', weight: 1 },
];

/** Every plugin, at its own weight. */
export const defaultProfile: Omit<ProfileConfig, 'schedulerName'> = {
  filters: new Set(filterNames),
  scores: new Map(Object.entries(scoreWeights) as [ScoreName, number][]),
  fit: {
    strategy: { type: 'LeastAllocated', resources: cpuAndMemory, shape: [] },
    ignoredResources: new Set(),
    ignoredResourceGroups: new Set(),
  },
  balanced: { resources: cpuAndMemory, points: 'improvement' },
  nodeAffinity: { addedAffinity: undefined },
  interPod: { hardPodAffinityWeight: 1, ignorePreferredTermsOfExistingPods: false },
  spread: { defaults: 'system' },
};

/** An extender that is asked nothing yet. */
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

/** What a file with nothing in it means. */
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
