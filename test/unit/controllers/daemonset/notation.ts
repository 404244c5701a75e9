/**
 * Clusters in a line.
 *
 * | nodes | |
 * | --- | --- |
 * | `a`  | fits |
 * | `a!` | has a NoExecute taint that nobody tolerates |
 * | `a~` | has a NoSchedule taint that nobody tolerates |
 * | `a^` | has a PreferNoSchedule taint |
 * | `a:canary` | has the label pool=canary; before any mark |
 *
 * | pods | made an hour ago, and ready ever since |
 * | --- | --- |
 * | `a@new` | on node a, of the present revision; `a@old` and `a@older` are of others, `a@` of none. Called a-new, the second one a-new2 |
 * | `!` | not ready |
 * | `-` | terminating |
 * | `#` | failed |
 * | `$` | succeeded |
 * | `?` | made for the node, and not scheduled |
 * | `/30` | made 30 s ago |
 * | `=5` | ready for 5 s; `=-5`: in 5 s, as its node's clock says |
 */
import type { DaemonSetStatus } from 'kubernetes-types/apps/v1.js';
import type { PodSpec } from 'kubernetes-types/core/v1.js';
import { HASH_LABEL, type HistoryStep, type Revision } from '../../../../controllers/common/history/contract.ts';
import { revisionData } from '../../../../controllers/common/history/revision.ts';
import { type SetFacts } from '../../../../controllers/daemonset/observe.ts';
import { noMemory, type Memory } from '../../../../controllers/common/set-memory.ts';
import type { Placement, DaemonSet, Node, Pod, PodTemplate } from '../../../../controllers/common/types.ts';
import { plan, type Plan } from '../../../../controllers/daemonset/plan.ts';
import { planStatus } from '../../../../controllers/daemonset/status.ts';
import { pinnedTo } from '../../../../controllers/daemonset/pods.ts';
import { recount } from '../../../../controllers/daemonset/summary.ts';
import { rulesOf } from '../../../../controllers/daemonset/rules.ts';
import type { Millis } from '../../../../base/clock.ts';
import { daemonSets } from '../../../../kube/api/object.ts';
import { controllerRef } from '../../../../kube/controller/owners.ts';
import type { Decide } from '../../../../controllers/daemonset/placement/node-decision.ts';

export const NOW = Date.parse('2026-03-01T12:00:00Z');
const HOUR = 3_600;
export const emptyStatus = { currentNumberScheduled: 0, desiredNumberScheduled: 0, numberMisscheduled: 0, numberReady: 0 };

export const words = (text: string): string[] => text.split(' ').filter((word) => word !== '');
export const ago = (seconds: number): string => new Date(NOW - seconds * 1_000).toISOString().replace('.000Z', 'Z');

const effects = { '!': 'NoExecute', '~': 'NoSchedule', '^': 'PreferNoSchedule' } as const;

export function node(text: string): Node {
  const [, name = '', pool, mark = ''] = /^([^:!~^]+)(?::([^!~^]+))?([!~^])?$/.exec(text) ?? [];
  const effect = effects[mark as keyof typeof effects];
  return {
    metadata: { name, uid: `${name}-uid`, labels: pool === undefined ? {} : { pool } },
    spec: effect === undefined ? {} : { taints: [{ key: 'example.com/away', effect }] },
  };
}

const POD = /^(?<on>[^@]+)@(?<revision>[a-z]*)(?<marks>[-!#$?]*)(?:\/(?<age>\d+))?(?:=(?<ready>-?\d+))?$/;

/** @param name - @default `NODE-REVISION` */
export function pod(text: string, name?: string): Pod {
  const { on = '', revision = '', marks = '', age, ready } = POD.exec(text)?.groups ?? {};
  if (on === '') throw new RangeError(`cannot read the pod ${text}`);
  const called = name ?? `${on}-${revision}`;
  const has = (mark: string): boolean => marks.includes(mark);
  const phase = has('#') ? 'Failed' : has('$') ? 'Succeeded' : has('?') ? 'Pending' : 'Running';
  const isReady = phase === 'Running' && !has('!');
  return {
    metadata: {
      name: called,
      namespace: 'ns',
      uid: `${called}-uid`,
      labels: { app: 'x', ...(revision === '' ? {} : { [HASH_LABEL]: revision }) },
      creationTimestamp: ago(Number(age ?? HOUR)),
      ownerReferences: [controllerRef(daemonSet(), daemonSets)],
      ...(has('-') ? { deletionTimestamp: ago(0) } : {}),
    },
    spec: {
      containers: [],
      ...(has('?') ? {} : { nodeName: on }),
      affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: pinnedTo(on) } },
    },
    status: {
      phase,
      conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False', lastTransitionTime: ago(Number(ready ?? age ?? HOUR)) }],
    },
  };
}

export function pods(text: string): Pod[] {
  const seen = new Map<string, number>();
  return words(text).map((word) => {
    const one = pod(word);
    const name = one.metadata.name ?? '';
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    return count === 1 ? one : pod(word, `${name}${count}`);
  });
}

export interface SetOptions {
  maxUnavailable?: number | string;
  maxSurge?: number | string;
  onDelete?: boolean;
  minReadySeconds?: number;
  historyLimit?: number;
  annotations?: Record<string, string>;
  /** Over a spec with one container that runs `new`. */
  spec?: Partial<PodSpec>;
  status?: DaemonSetStatus;
}

/** `ns/ds`, of generation 2. */
export function daemonSet(options: SetOptions = {}): DaemonSet {
  const { maxUnavailable, maxSurge, onDelete, minReadySeconds, historyLimit, annotations, spec, status } = options;
  const rollingUpdate = {
    ...(maxUnavailable === undefined ? {} : { maxUnavailable }),
    ...(maxSurge === undefined ? {} : { maxSurge }),
  } as { maxUnavailable?: number };
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'ds', namespace: 'ns', uid: 'ds-uid', generation: 2, ...(annotations === undefined ? {} : { annotations }) },
    spec: {
      selector: { matchLabels: { app: 'x' } },
      template: templateOf('new', spec),
      updateStrategy: onDelete === true ? { type: 'OnDelete' } : { type: 'RollingUpdate', rollingUpdate },
      ...(minReadySeconds === undefined ? {} : { minReadySeconds }),
      ...(historyLimit === undefined ? {} : { revisionHistoryLimit: historyLimit }),
    },
    ...(status === undefined ? {} : { status }),
  };
}

export function templateOf(image: string, spec: Partial<PodSpec> = {}): PodTemplate {
  return { metadata: { labels: { app: 'x' } }, spec: { containers: [{ name: 'c', image }], ...spec } };
}

/** One revision for each word, the last one the newest. `new` is that of the set's template, and `copy` holds the same; `ds-new` is `new`, labelled with its name. */
export function revisions(set: Readonly<DaemonSet>, text = 'older old new'): Revision[] {
  return words(text).map((label, index) => {
    const hash = label.replace(/^ds-/, '');
    return {
      metadata: {
        name: `ds-${hash}`,
        namespace: 'ns',
        uid: `ds-${hash}-uid`,
        labels: { app: 'x', [HASH_LABEL]: label },
        ownerReferences: [controllerRef(set, daemonSets)],
      },
      data: revisionData((hash === 'new' || hash === 'copy' ? set.spec?.template : templateOf(hash)) as Readonly<Record<string, unknown>>),
      revision: index + 1,
    };
  });
}

export interface Situation extends SetOptions {
  nodes: string;
  pods?: string | Pod[];
  revisions?: string;
  memory?: Partial<Memory>;
  pendingMs?: Millis;
  now?: Millis;
  placement?: Placement;
  decide?: Decide;
}

export function factsOf(situation: Situation): SetFacts {
  const { nodes, pods: there = '', memory = {}, pendingMs = 0, now = NOW, placement = 'scheduler', decide } = situation;
  const set = daemonSet(situation);
  const cluster = {
    nodes: words(nodes).map(node),
    pods: typeof there === 'string' ? pods(there) : there,
    revisions: revisions(set, situation.revisions),
    now,
    pendingMs,
    memory: { ...noMemory, ...memory },
  };
  const rules = rulesOf(set, placement);
  return (decide === undefined ? recount(rules, cluster) : recount(rules, cluster, decide)).facts;
}

/** What the phases of one reconcile come to, if all that it writes succeeds. */
export type Planned = Plan & { adoption: SetFacts['adoption']; history: readonly HistoryStep[]; status: DaemonSetStatus | undefined };

export const planned = (situation: Situation): Planned => plannedFrom(factsOf(situation));

function plannedFrom(facts: SetFacts): Planned {
  const todo = plan(facts);
  const { status, wakeUps } = planStatus(facts);
  return { ...todo, adoption: facts.adoption, history: facts.history.steps, status, wakeUps: [...todo.wakeUps, ...wakeUps] };
}

/** `create b@new, delete a-old (update)`. */
export function actionsOf({ creations, deletions }: Pick<Plan, 'creations' | 'deletions'>): string {
  return [
    ...creations.map(({ node, hash }) => `create ${node}@${hash}`),
    ...deletions.map(({ pod: { metadata }, reason }) => `delete ${metadata.name} (${reason})`),
  ].join(', ');
}

/** `Normal Reason: message`, one for each event. */
export const eventsOf = ({ events }: Pick<Plan, 'events'>): string[] =>
  events.map(({ type, reason, message }) => `${type} ${reason}: ${message}`);

/** `5s why`, one for each wake-up. */
export const wakesOf = ({ wakeUps }: Pick<Plan, 'wakeUps'>): string[] =>
  wakeUps.map(({ requeueAfter: after, why }) => `${after / 1_000}s ${why}`);

/** `desired/current/ready/available/updated`, and what is unavailable and misscheduled where there is any. */
export function numbersOf(status: DaemonSetStatus | undefined): string {
  if (status === undefined) return 'unchanged';
  const { numberUnavailable = 0, numberMisscheduled } = status;
  const numbers = [
    status.desiredNumberScheduled,
    status.currentNumberScheduled,
    status.numberReady,
    status.numberAvailable,
    status.updatedNumberScheduled,
  ].join('/');
  return `${numbers}${numberUnavailable === 0 ? '' : ` unavailable ${numberUnavailable}`}${numberMisscheduled === 0 ? '' : ` misscheduled ${numberMisscheduled}`}`;
}
