import { parseDocument } from 'yaml';
import { describeError } from '../../base/errors.ts';
import {
  defaultSchedulerConfig as normal,
  type ExtenderConfig,
  type ProfileConfig,
  type ReservationConfig,
  type SchedulerConfig,
} from './config.ts';
import { readExtender } from './extender.ts';
import {
  type Finding,
  Findings,
  type Mapping,
  mustBeImage,
  mustBeNamespace,
  mustBeObjectName,
  readMapping,
} from '../../kube/process/mapping.ts';
import { everyNodeIsScored, readProfile } from './profile.ts';

export type ConfigRead =
  | {
      ok: true;
      config: SchedulerConfig;
      /** Keys that are accepted but have no effect, or an effect that is easily overlooked. */
      warnings: readonly Finding[];
    }
  /** All problems, in the order of the text. They quote values, except those of keys and certificates. */
  | { ok: false; problems: readonly Finding[] };

const many = { min: 1, max: 10_000 };
const percent = { min: 0, max: 100 };

/** Parses YAML or JSON text; absent keys have defaults, and an empty text means all defaults. */
export function parseSchedulerConfig(text: string): ConfigRead {
  const document = parseDocument(text, { uniqueKeys: true, logLevel: 'error' });
  const [error] = document.errors;
  if (error?.code === 'MULTIPLE_DOCS')
    return { ok: false, problems: [{ path: '', message: 'it holds more than one YAML document; keep one' }] };
  if (error) return unreadable(error);
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    // Aliases that expand beyond the parser's limit.
    if (error instanceof ReferenceError) return unreadable(error);
    throw error;
  }
  return readSchedulerConfig(value);
}

const unreadable = (error: Error): ConfigRead => {
  const why = describeError(error).split('\n')[0] ?? '';
  return { ok: false, problems: [{ path: '', message: `it is neither YAML nor JSON: ${why}` }] };
};

/** The same for the parsed value of a text. */
export function readSchedulerConfig(value: unknown): ConfigRead {
  const findings = new Findings();
  const config = readMapping(value, '', findings, readAll);
  const { problems, warnings } = findings;
  return problems.length > 0 ? { ok: false, problems } : { ok: true, config, warnings };
}

function readAll(written: Mapping): SchedulerConfig {
  refuseOthersFile(written);
  const profiles = written.mappings('profiles', readProfile) ?? [];
  const percentageOfNodesToScore = written.whole('percentageOfNodesToScore', normal.percentageOfNodesToScore, percent);
  if (percentageOfNodesToScore !== 0 && percentageOfNodesToScore !== 100) written.warn('percentageOfNodesToScore', everyNodeIsScored);
  const initialBackoffMs = written.seconds('podInitialBackoffSeconds', normal.initialBackoffMs, 1);
  const maxBackoffMs = written.seconds('podMaxBackoffSeconds', Math.max(initialBackoffMs, normal.maxBackoffMs), 1);
  if (maxBackoffMs < initialBackoffMs)
    written.problem('podMaxBackoffSeconds', `it is ${maxBackoffMs / 1_000}; it must not be less than podInitialBackoffSeconds`);
  const extenders = written.mappings('extenders', readExtender) ?? normal.extenders;
  judgeExtenders(written, extenders);
  const assumeTtlMs = written.seconds('assumeTtlSeconds', normal.assumeTtlMs, 0);
  return {
    profiles: profilesByName(written, profiles, extenders),
    percentageOfNodesToScore,
    initialBackoffMs,
    maxBackoffMs,
    unschedulableFlushMs: written.seconds('unschedulableFlushSeconds', normal.unschedulableFlushMs, 1),
    assumeTtlMs,
    preemption: written.mapping('preemption', readPreemption),
    extenders,
    reservation: written.mapping('reservation', readReservation),
    compat: written.mapping('compat', readCompat),
    api: written.mapping('api', readApi),
    volumeBindTimeoutMs: written.seconds('volumeBindTimeoutSeconds', normal.volumeBindTimeoutMs, 1),
    leaderElection: written.mapping('leaderElection', readLeaderElection),
  };
}

/** A user may first try an existing file of kube-scheduler. */
function refuseOthersFile(written: Mapping): void {
  for (const key of ['apiVersion', 'kind'])
    if (written.keys.includes(key) && written.has(key))
      written.problem(key, 'there is no such key: this file is not a KubeSchedulerConfiguration, although many keys have the same name');
}

function profilesByName(
  written: Mapping,
  profiles: readonly ProfileConfig[],
  extenders: readonly ExtenderConfig[],
): ReadonlyMap<string, ProfileConfig> {
  const byName = new Map<string, ProfileConfig>();
  for (const [at, profile] of profiles.entries()) {
    if (byName.has(profile.schedulerName))
      written.problem(
        `profiles[${at}].schedulerName`,
        `it is ${JSON.stringify(profile.schedulerName)}, which another profile uses already`,
      );
    byName.set(profile.schedulerName, profile);
  }
  if (profiles.length === 0) for (const [name, profile] of normal.profiles) byName.set(name, profile);
  const ignored = extenders.flatMap(({ managedResources }) =>
    managedResources.filter((one) => one.ignoredByScheduler).map(({ name }) => name),
  );
  if (ignored.length === 0) return byName;
  return new Map([...byName].map(([name, profile]) => [name, ignoring(profile, ignored)]));
}

/** Nodes are not filtered by resources that only an extender handles. */
function ignoring(profile: ProfileConfig, ignored: readonly string[]): ProfileConfig {
  return { ...profile, fit: { ...profile.fit, ignoredResources: new Set([...profile.fit.ignoredResources, ...ignored]) } };
}

function judgeExtenders(written: Mapping, extenders: readonly ExtenderConfig[]): void {
  const binders = [...extenders.keys()].filter((at) => extenders[at]?.bindVerb !== '');
  for (const at of binders.slice(1))
    written.problem(`extenders[${at}].bindVerb`, `only one extender can bind, and extenders[${binders[0]}] does already`);
  const managedBy = new Map<string, number>();
  for (const [at, { managedResources }] of extenders.entries())
    for (const [n, { name }] of managedResources.entries()) {
      const other = managedBy.get(name);
      if (name !== '' && other !== undefined)
        written.problem(
          `extenders[${at}].managedResources[${n}].name`,
          `it is ${JSON.stringify(name)}, which extenders[${other}] manages already; one extender manages a resource`,
        );
      managedBy.set(name, other ?? at);
    }
}

function readPreemption(written: Mapping): SchedulerConfig['preemption'] {
  const { enabled, minCandidateNodesPercentage, minCandidateNodesAbsolute, async } = normal.preemption;
  const read = {
    enabled: written.flag('enabled', enabled),
    minCandidateNodesPercentage: written.whole('minCandidateNodesPercentage', minCandidateNodesPercentage, percent),
    minCandidateNodesAbsolute: written.whole('minCandidateNodesAbsolute', minCandidateNodesAbsolute, { min: 0, max: 1_000_000 }),
    async: written.flag('async', async),
  };
  if (read.minCandidateNodesPercentage === 0 && read.minCandidateNodesAbsolute === 0)
    written.problem('minCandidateNodesAbsolute', 'it is 0; it must be 1 or more where minCandidateNodesPercentage is 0');
  return read;
}

function readReservation(written: Mapping): ReservationConfig {
  const own = normal.reservation;
  const read: ReservationConfig = {
    enabled: written.flag('enabled', own.enabled),
    reserveOn: written.choice('reserveOn', own.reserveOn, ['upgrade', 'recreate']),
    placement: written.choice('placement', own.placement, ['prefer', 'score']),
    ttlMs: written.seconds('ttlSeconds', own.ttlMs, 1),
    claimedTtlMs: written.seconds('claimedTtlSeconds', own.claimedTtlMs, 1),
    upgradeFirst: written.flag('upgradeFirst', own.upgradeFirst),
    ownerKinds: new Set(written.texts('ownerKinds', mustBeOwnerKind) ?? own.ownerKinds),
    daemonSets: written.flag('daemonSets', own.daemonSets),
    persist: written.choice('persist', own.persist, ['none', 'annotation']),
    mirror: written.flag('mirror', own.mirror),
    mirrorImage: written.text('mirrorImage', own.mirrorImage, mustBeImage),
  };
  if (read.enabled && read.ownerKinds.size === 0 && !read.daemonSets) written.warn('ownerKinds', 'it is empty: nothing is ever reserved');
  if (read.enabled && read.mirror && !written.has('mirrorImage'))
    written.problem(
      'mirrorImage',
      'it is missing, and mirror is true; name an image that does nothing and that every node can pull, such as the pause image of your cluster',
    );
  if (!read.mirror && read.mirrorImage !== undefined) written.warn('mirrorImage', 'it has no effect unless mirror is true');
  const others = written.keys.filter((key) => key !== 'enabled');
  if (!read.enabled && others.length > 0) written.findings.warn(written.path, `${others.join(', ')} have no effect: it is not enabled`);
  return read;
}

function mustBeOwnerKind(text: string): string | undefined {
  if (text === 'apps/DaemonSet') return 'removed: use `daemonSets: true` for DaemonSets';
  if (text === 'apps/ReplicaSet' || text === 'apps/Deployment')
    return 'removed: their new pods have other names and are created before the old ones are deleted';
  return /^[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?\/[A-Z][A-Za-z0-9]*$/.test(text) ? undefined : 'GROUP/KIND, such as apps/StatefulSet';
}

function readCompat(written: Mapping): SchedulerConfig['compat'] {
  const own = normal.compat;
  const tieBreak = written.choice('tieBreak', own.tieBreak, ['random', 'roundRobin']);
  const seed = written.whole('seed', own.seed, { min: 0, max: 0xffff_ffff });
  if (tieBreak !== 'random' && seed !== undefined) written.warn('seed', 'it has no effect unless tieBreak is random');
  return {
    taintMessage: written.choice('taintMessage', own.taintMessage, ['1.34', 'head']),
    scoreRange: Number(written.choice('scoreRange', '100', ['100', '10'])),
    tieBreak,
    seed,
  };
}

function readApi(written: Mapping): SchedulerConfig['api'] {
  const own = normal.api;
  return {
    maxInflightBinds: written.whole('maxInflightBinds', own.maxInflightBinds, many),
    maxInflightStatus: written.whole('maxInflightStatus', own.maxInflightStatus, many),
    maxInflightEvents: written.whole('maxInflightEvents', own.maxInflightEvents, many),
    pageSize: written.whole('pageSize', own.pageSize, many),
  };
}

function readLeaderElection(written: Mapping): SchedulerConfig['leaderElection'] {
  const { enabled, lease: own } = normal.leaderElection;
  const isEnabled = written.flag('enabled', enabled);
  const lease = {
    namespace: written.text('namespace', own.namespace, mustBeNamespace),
    name: written.text('leaseName', own.name, mustBeObjectName),
    leaseDurationMs: written.duration('leaseDuration', own.leaseDurationMs),
    renewDeadlineMs: written.duration('renewDeadline', own.renewDeadlineMs),
    retryPeriodMs: written.duration('retryPeriod', own.retryPeriodMs),
  };
  if (lease.leaseDurationMs <= lease.renewDeadlineMs) written.problem('leaseDuration', 'it must be longer than renewDeadline');
  if (lease.renewDeadlineMs <= 1.2 * lease.retryPeriodMs) written.problem('renewDeadline', 'it must be longer than 1.2 times retryPeriod');
  return { enabled: isEnabled, lease };
}
