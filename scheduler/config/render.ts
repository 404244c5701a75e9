import { formatGoDuration } from '../../base/go-duration.ts';
import { filterNames, scoreWeights, type FilterName, type PluginName, type ScoreName } from '../plugins/names.ts';
import type { ExtenderConfig, ProfileConfig, SchedulerConfig, ShapePoint } from './config.ts';

/** The configuration in the form of its file, with all defaults written out: parsing it gives the same configuration. Only `keyData` is hidden. */
export function renderSchedulerConfig(config: SchedulerConfig): Record<string, unknown> {
  const { preemption, reservation, compat, api, leaderElection } = config;
  const { lease } = leaderElection;
  return {
    profiles: [...config.profiles.values()].map(renderProfile),
    percentageOfNodesToScore: config.percentageOfNodesToScore,
    podInitialBackoffSeconds: config.initialBackoffMs / 1_000,
    podMaxBackoffSeconds: config.maxBackoffMs / 1_000,
    unschedulableFlushSeconds: config.unschedulableFlushMs / 1_000,
    assumeTtlSeconds: config.assumeTtlMs / 1_000,
    volumeBindTimeoutSeconds: config.volumeBindTimeoutMs / 1_000,
    preemption: { ...preemption },
    extenders: config.extenders.map(renderExtender),
    reservation: {
      enabled: reservation.enabled,
      reserveOn: reservation.reserveOn,
      placement: reservation.placement,
      ttlSeconds: reservation.ttlMs / 1_000,
      claimedTtlSeconds: reservation.claimedTtlMs / 1_000,
      upgradeFirst: reservation.upgradeFirst,
      ownerKinds: [...reservation.ownerKinds],
      daemonSets: reservation.daemonSets,
      persist: reservation.persist,
      mirror: reservation.mirror,
      mirrorImage: reservation.mirrorImage ?? null,
    },
    compat: { ...compat, seed: compat.seed ?? null },
    api: { ...api },
    leaderElection: {
      enabled: leaderElection.enabled,
      leaseName: lease.name,
      namespace: lease.namespace,
      leaseDuration: duration(lease.leaseDurationMs),
      renewDeadline: duration(lease.renewDeadlineMs),
      retryPeriod: duration(lease.retryPeriodMs),
    },
  };
}

const renderPoint = ({ utilization, score }: ShapePoint): ShapePoint => ({ utilization, score: score / 10 });

function renderProfile({ schedulerName, filters, scores, fit, ...args }: ProfileConfig): Record<string, unknown> {
  const { type, resources, shape } = fit.strategy;
  const points = shape.map(renderPoint);
  const { addedAffinity } = args.nodeAffinity;
  const { defaults } = args.spread;
  return {
    schedulerName,
    plugins: Object.fromEntries(pluginNames.map((name) => [name, renderPlugin(name, filters, scores)])),
    pluginArgs: {
      NodeResourcesFit: {
        scoringStrategy: { type, resources, ...(points.length > 0 ? { requestedToCapacityRatio: { shape: points } } : {}) },
        ignoredResources: [...fit.ignoredResources],
        ignoredResourceGroups: [...fit.ignoredResourceGroups],
      },
      NodeResourcesBalancedAllocation: { resources: args.balanced.resources, points: args.balanced.points },
      NodeAffinity: addedAffinity ? { addedAffinity: { requiredDuringSchedulingIgnoredDuringExecution: addedAffinity } } : {},
      VolumeBinding: { shape: args.volumeBinding.shape.map(renderPoint) },
      InterPodAffinity: args.interPod,
      PodTopologySpread:
        defaults === 'system'
          ? { defaultingType: 'System', defaultConstraints: [] }
          : { defaultingType: 'List', defaultConstraints: defaults.map((one) => ({ ...one, whenUnsatisfiable: 'ScheduleAnyway' })) },
    },
  };
}

const pluginNames = [...new Set<PluginName>([...filterNames, ...(Object.keys(scoreWeights) as ScoreName[])])];

/** A plugin that filters but does not score has weight 0; a score plugin without a weight is not enabled. */
function renderPlugin(name: PluginName, filters: ReadonlySet<FilterName>, scores: ReadonlyMap<ScoreName, number>): Record<string, unknown> {
  const weight = scores.get(name as ScoreName) ?? 0;
  const enabled = filters.has(name as FilterName) || weight > 0;
  return Object.hasOwn(scoreWeights, name) && enabled ? { enabled, weight } : { enabled };
}

function renderExtender({ enableHttps, tls, httpTimeoutMs, ...extender }: ExtenderConfig): Record<string, unknown> {
  const { insecure, serverName, certFile, keyFile, caFile, certData, keyData, caData } = tls;
  const kept = { serverName, certFile, keyFile, caFile, certData: base64(certData), keyData: keyData && 'hidden', caData: base64(caData) };
  const tlsConfig = { insecure, ...Object.fromEntries(Object.entries(kept).filter(([, value]) => value !== undefined)) };
  const isPlain = !insecure && Object.keys(tlsConfig).length === 1;
  return { ...extender, enableHTTPS: enableHttps, ...(isPlain ? {} : { tlsConfig }), httpTimeout: duration(httpTimeoutMs) };
}

const base64 = (text: string | undefined): string | undefined => (text === undefined ? undefined : Buffer.from(text).toString('base64'));
const duration = (ms: number): string => formatGoDuration(BigInt(ms) * 1_000_000n);
