import type { PodSpec, Toleration } from 'kubernetes-types/core/v1.js';
import type { Millis } from '../../base/clock.ts';
import type { KubeObject } from '../../kube/api/object.ts';
import { resolveIntOrPercent } from '../../kube/api/quantity.ts';
import { type LabelSelector, labelSelectorOf, matchesLabels, parseLabelSelector, SelectorError } from '../../kube/api/selector.ts';
import { tooLarge } from '../common/set-size.ts';
import type { DaemonSet, Placement, PodTemplate } from '../common/types.ts';
import type { SetEvent } from '../common/events.ts';
import { AnnotationReader, countOrShare } from '../common/annotations.ts';
import { mergeTolerations } from '../../kube/api/placement.ts';

/** A parsed set: with defaults applied, and with its invalid parts reported. */
export interface Rules {
  readonly set: Readonly<DaemonSet>;
  readonly selector: Selector;
  /** Why the set is not synced; its large parts are not parsed then. */
  readonly tooLarge: string | undefined;
  readonly template: Readonly<PodTemplate>;
  /** The template's and the automatic ones. */
  readonly tolerations: readonly Toleration[];
  readonly update: { type: 'OnDelete' } | { type: 'RollingUpdate'; maxUnavailable: number | string; maxSurge: number | string };
  /** RollingUpdate, and at least one pod may be created beside an old one. */
  readonly surging: boolean;
  readonly minReadyMs: Millis;
  /** Old revisions to keep. */
  readonly historyLimit: number;
  readonly optIns: OptIns;
  /** The deprecated annotation that counts templates, older than ControllerRevisions. */
  readonly templateGeneration: string | undefined;
  readonly placement: Placement;
  /** A legacy critical pod: in kube-system, with the annotation. Only where the controller places pods. */
  readonly critical: boolean;
}

/** all: empty, so it would select all pods; bad: invalid. */
export type Selector = { kind: 'labels'; labels: LabelSelector } | { kind: 'all' } | { kind: 'bad'; why: string };

const GENERATION = 'deprecated.daemonset.template.generation';
const CRITICAL = 'scheduler.alpha.kubernetes.io/critical-pod';

/** Parses a set. Pure; never throws: a value that the API server would have rejected counts as the default. */
export function rulesOf(set: Readonly<DaemonSet>, placement: Placement): Rules {
  const { spec } = set;
  const why = tooLarge({ selector: spec?.selector, template: spec?.template ?? {} });
  const template = why === undefined ? (spec?.template ?? {}) : {};
  const update = updateOf(set);
  const generation = set.metadata.annotations?.[GENERATION];
  const critical =
    placement === 'controller' && set.metadata.namespace === 'kube-system' && template.metadata?.annotations?.[CRITICAL] === '';
  return {
    set,
    selector: why === undefined ? selectorOf(set) : { kind: 'bad', why },
    tooLarge: why,
    template,
    tolerations: daemonTolerations(template.spec ?? { containers: [] }, {
      era: placement === 'controller' ? 'legacy' : 'modern',
      critical,
    }),
    update,
    surging: update.type === 'RollingUpdate' && (resolveIntOrPercent(update.maxSurge, 1, { round: 'up' }) ?? 0) > 0,
    minReadyMs: 1_000 * (spec?.minReadySeconds ?? 0),
    historyLimit: spec?.revisionHistoryLimit ?? 10,
    optIns: optInsOf(set.metadata.annotations),
    templateGeneration: generation !== undefined && /^-?\d{1,20}$/.test(generation) ? String(BigInt(generation)) : undefined,
    placement,
    critical,
  };
}

function selectorOf({ spec }: Readonly<DaemonSet>): Selector {
  if (spec?.selector === undefined) return { kind: 'bad', why: 'it has no selector' };
  try {
    const labels = labelSelectorOf(spec.selector);
    return labels.length === 0 ? { kind: 'all' } : { kind: 'labels', labels };
  } catch (error) {
    if (error instanceof SelectorError) return { kind: 'bad', why: error.message };
    throw error;
  }
}

function updateOf({ spec }: Readonly<DaemonSet>): Rules['update'] {
  const { type = 'RollingUpdate', rollingUpdate = {} } = spec?.updateStrategy ?? {};
  if (type === 'OnDelete') return { type };
  const { maxUnavailable = 1, maxSurge = 0 } = rollingUpdate;
  return { type: 'RollingUpdate', maxUnavailable, maxSurge };
}

/** Whether the set's selector matches an object. An empty or invalid selector matches nothing. */
export function selects({ selector }: Rules): (object: Readonly<KubeObject>) => boolean {
  return ({ metadata }) => selector.kind === 'labels' && matchesLabels(selector.labels, metadata.labels);
}

/** Warnings for the author of a set, while their causes last. */
export function warningsOf({ optIns, surging, template }: Rules): SetEvent[] {
  const warnings = optIns.problems.map((problem): SetEvent => ({
    type: 'Warning',
    reason: 'InvalidAnnotation',
    message: `No pods are replaced: invalid annotation: ${problem}`,
  }));
  const port = surging ? hostPort(template) : undefined;
  if (port !== undefined)
    warnings.push({
      type: 'Warning',
      reason: 'HostPortWithSurge',
      message: `Updates with maxSurge cannot complete: a new pod cannot run beside the old one, which uses host port ${port}; use maxUnavailable`,
    });
  return warnings;
}

function hostPort({ spec }: Rules['template']): number | undefined {
  for (const { ports = [] } of spec?.containers ?? [])
    for (const { hostPort, containerPort } of ports) {
      if (hostPort !== undefined && hostPort > 0) return hostPort;
      if (spec?.hostNetwork === true) return containerPort;
    }
  return undefined;
}

/** What annotations of a set opt in to; without them the set behaves as upstream. */
interface OptIns {
  /** Pods are not replaced; missing ones are created from the present template. */
  paused: boolean;
  /** Nodes that keep the old revision: a count, or a share of the desired ones, rounded up. */
  partition: number | string | undefined;
  /** Only pods on nodes that match are replaced. */
  rolloutNodes: LabelSelector | undefined;
  /** In ms. A rollout without progress for this long is stalled; conditions report the progress. */
  progressDeadlineMs: Millis | undefined;
  /** Invalid annotations, and why. While there are any, no pod is replaced: the limits that they were meant to set are unknown. */
  problems: readonly string[];
}

const PAUSED = 'dkc.dev/paused';
const PARTITION = 'dkc.dev/partition';
const ROLLOUT_NODES = 'dkc.dev/rollout-node-selector';
const DEADLINE = 'dkc.dev/progress-deadline';

/** Pure. @param annotations - of the set */
export function optInsOf(annotations: Readonly<Record<string, string>> = {}): OptIns {
  const reader = new AnnotationReader(annotations);
  return {
    paused: reader.flag(PAUSED),
    partition: reader.read(PARTITION, countOrShare, 'write a number of nodes, such as "3", or a share, such as "30%"'),
    rolloutNodes: reader.read(ROLLOUT_NODES, nodeSelectorOf, 'write a label selector, such as "pool=canary"'),
    progressDeadlineMs: reader.duration(DEADLINE),
    problems: reader.problems,
  };
}

function nodeSelectorOf(text: string): LabelSelector | undefined {
  try {
    // An empty selector selects everything, which is never meant in an annotation.
    return text === '' ? undefined : parseLabelSelector(text);
  } catch (error) {
    if (error instanceof SelectorError) return undefined;
    throw error;
  }
}

/** `modern`: a scheduler places the pods; `legacy`: this controller does, as upstream did at first. */
interface TolerationFacts {
  era: 'modern' | 'legacy';
  /** A legacy critical pod: in kube-system, with the annotation. Modern sets use priority, which taints ignore. */
  critical: boolean;
}

const exists = (name: string, effect: string): Toleration =>
  Object.freeze({ key: `node.kubernetes.io/${name}`, operator: 'Exists', effect });

const always = [
  exists('not-ready', 'NoExecute'),
  exists('unreachable', 'NoExecute'),
  exists('disk-pressure', 'NoSchedule'),
  exists('memory-pressure', 'NoSchedule'),
];
const unschedulable = exists('unschedulable', 'NoSchedule');
/** Legacy clusters do not have this taint. */
const modern = [exists('pid-pressure', 'NoSchedule')];
/** A pod that brings up the network cannot wait for it. */
const onHostNetwork = [exists('network-unavailable', 'NoSchedule')];
const critical = [exists('out-of-disk', 'NoExecute'), exists('out-of-disk', 'NoSchedule')];

/**
 * The tolerations of a set's pods: those of the template, and automatic ones that keep a daemon on a node with problems. An automatic one replaces the
 * template's toleration of the same key, effect, operator and value, so that `tolerationSeconds` is dropped.
 */
export function daemonTolerations(
  spec: Readonly<Pick<PodSpec, 'tolerations' | 'hostNetwork'>> | undefined,
  facts: TolerationFacts,
): Toleration[] {
  return mergeTolerations(spec?.tolerations, [
    ...always,
    ...(facts.era === 'modern' ? modern : []),
    unschedulable,
    ...(spec?.hostNetwork === true ? onHostNetwork : []),
    ...(facts.era === 'legacy' && facts.critical ? critical : []),
  ]);
}
