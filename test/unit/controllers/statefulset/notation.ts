/**
 * Sets in a line.
 *
 * | pods of `ns/web` | ready for an hour |
 * | --- | --- |
 * | `0@new` | web-0, of the present revision; `0@old` and `0@older` are of others, `0@` of none. `web-01@new` is called so |
 * | `!` | not ready |
 * | `-` | terminating |
 * | `#` | failed |
 * | `$` | succeeded |
 * | `?` | pending |
 * | `+` | says that it is ready, whatever its phase |
 * | `~` | without the label that has its name |
 * | `*` | without the volumes of its claims |
 * | `=5` | ready for 5 s; `=-5`: in 5 s, as its node's clock says |
 *
 * | claims | |
 * | --- | --- |
 * | `data-0` | data-web-0 |
 * | `-` | terminating |
 * | `^` | owned by an earlier pod of the name |
 *
 * Plans are in words: `create 1@new +data-web-1`, `delete 2 (update)`, `storage 1 +data-web-1`, `owners 1`, `repair 1`, `grow data-web-1`; actions of one
 * group with commas between them, groups with semicolons.
 */
import type { StatefulSetStatus } from 'kubernetes-types/apps/v1.js';
import { HASH_LABEL, type Revision } from '../../../../controllers/common/history/contract.ts';
import { revisionData } from '../../../../controllers/common/history/revision.ts';
import type { Action } from '../../../../controllers/statefulset/actions.ts';
import type { SetFacts } from '../../../../controllers/statefulset/observe.ts';
import { noMemory } from '../../../../controllers/common/set-memory.ts';
import { planOwnership, plan, type Plan } from '../../../../controllers/statefulset/plan.ts';
import { identityOf } from '../../../../kube/api/ordinals.ts';
import { rulesOf } from '../../../../controllers/statefulset/rules.ts';
import type { Pvc, Pod, PodTemplate, StatefulSet } from '../../../../controllers/common/types.ts';
import { statefulSets } from '../../../../kube/api/object.ts';
import { controllerRef } from '../../../../kube/controller/owners.ts';
import { claim, lookupOf, pod as podAt, statefulSet } from './objects.ts';

type UpdateStrategy = NonNullable<NonNullable<StatefulSet['spec']>['updateStrategy']>;

export const NOW = Date.parse('2026-03-01T12:00:00Z');
const HOUR = 3_600;

export const words = (text: string): string[] => text.split(' ').filter((word) => word !== '');
export const ago = (seconds: number): string => new Date(NOW - seconds * 1_000).toISOString().replace('.000Z', 'Z');

export interface Situation {
  pods?: string | Pod[];
  replicas?: number;
  start?: number;
  parallel?: boolean;
  /** 'nil' is a RollingUpdate without its block. @default {} */
  update?: 'OnDelete' | 'Recreate' | 'nil' | { partition?: number; maxUnavailable?: number | string };
  minReady?: number;
  /** Without `dkc.dev/`. */
  annotations?: Record<string, string>;
  /** Names of claim templates. */
  templates?: string[];
  /** Claims that are there. */
  claims?: string;
  /** Ordinals whose names somebody else's pods have. */
  taken?: readonly string[];
  whenScaled?: 'Delete';
  whenDeleted?: 'Delete';
  /** Lowest first; `new` is that of the template. @default older old new */
  revisions?: string;
  /** In the status. @default old */
  current?: string;
  /** The rest of it. */
  status?: Partial<StatefulSetStatus>;
  historyLimit?: number;
  leaving?: boolean;
}

const POD = /^(?<name>[^@]+)@(?<revision>[a-z]*)(?<marks>[-!#$?+~*]*)(?:=(?<ready>-?\d+))?$/;

export function pod(text: string, templates: readonly string[] = []): Pod {
  const { name: written = '', revision = '', marks = '', ready } = POD.exec(text)?.groups ?? {};
  if (written === '') throw new RangeError(`cannot read the pod ${text}`);
  const name = /^\d+$/.test(written) ? `web-${written}` : written;
  const has = (mark: string): boolean => marks.includes(mark);
  const made = podAt(identityOf(name)?.ordinal ?? 0, has('*') ? [] : templates);
  const labels = { app: 'web', ...(has('~') ? {} : { 'statefulset.kubernetes.io/pod-name': name }) };
  const phase = has('#') ? 'Failed' : has('$') ? 'Succeeded' : has('?') ? 'Pending' : 'Running';
  const isReady = has('+') || (phase === 'Running' && !has('!'));
  return {
    ...made,
    metadata: {
      ...made.metadata,
      name,
      uid: `${name}-uid`,
      labels: { ...labels, ...(revision === '' ? {} : { [HASH_LABEL]: `web-${revision}` }) },
      ownerReferences: [controllerRef(statefulSet(), statefulSets)],
      ...(has('-') ? { deletionTimestamp: ago(0) } : {}),
    },
    spec: { containers: [], ...made.spec, nodeName: 'a' },
    status: {
      phase,
      conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False', lastTransitionTime: ago(Number(ready ?? HOUR)) }],
    },
  };
}

function claims(text: string): Pvc[] {
  return words(text).map((word) => {
    const [, template = '', ordinal = '', mark = ''] = /^(.+)-(\d+)([-^]?)$/.exec(word) ?? [];
    const earlier = { apiVersion: 'v1', kind: 'Pod', name: `web-${ordinal}`, uid: 'earlier-uid' };
    return claim(`${template}-web-${ordinal}`, {
      ...(mark === '-' ? { deletionTimestamp: ago(0) } : {}),
      ...(mark === '^' ? { ownerReferences: [earlier] } : {}),
    });
  });
}

export function templateOf(image: string): PodTemplate {
  return { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image }] } };
}

export function setOf(situation: Situation = {}): StatefulSet {
  const { replicas = 3, start, parallel, update = {}, minReady, annotations, templates, whenScaled, whenDeleted, historyLimit } = situation;
  const { current = 'old', status, leaving } = situation;
  // The types know no share of the replicas.
  const updateStrategy = (
    typeof update === 'string' ? { type: update === 'nil' ? 'RollingUpdate' : update } : { type: 'RollingUpdate', rollingUpdate: update }
  ) as UpdateStrategy;
  const retention = { whenScaled: whenScaled ?? 'Retain', whenDeleted: whenDeleted ?? 'Retain' };
  const set = statefulSet({
    spec: {
      replicas,
      template: templateOf('new'),
      updateStrategy,
      podManagementPolicy: parallel === true ? 'Parallel' : 'OrderedReady',
      persistentVolumeClaimRetentionPolicy: retention,
      ...(start === undefined ? {} : { ordinals: { start } }),
      ...(minReady === undefined ? {} : { minReadySeconds: minReady }),
      ...(historyLimit === undefined ? {} : { revisionHistoryLimit: historyLimit }),
    },
    ...(templates === undefined ? {} : { claims: templates }),
    annotations: Object.fromEntries(Object.entries(annotations ?? {}).map(([name, value]) => [`dkc.dev/${name}`, value])),
  });
  return {
    ...set,
    metadata: { ...set.metadata, ...(leaving === true ? { deletionTimestamp: ago(0) } : {}) },
    status: { replicas: 0, currentRevision: `web-${current}`, ...status },
  };
}

export function revisions(set: Readonly<StatefulSet>, text = 'older old new'): Revision[] {
  return words(text).map((name, index) => ({
    metadata: {
      name: `web-${name}`,
      namespace: 'ns',
      uid: `web-${name}-uid`,
      labels: { app: 'web' },
      ownerReferences: [controllerRef(set, statefulSets)],
    },
    data: revisionData((name === 'new' ? set.spec?.template : templateOf(name)) as Readonly<Record<string, unknown>>),
    revision: index + 1,
  }));
}

export function factsOf(situation: Situation): SetFacts {
  const set = setOf(situation);
  const { pods = '' } = situation;
  const there = claims(situation.claims ?? '');
  return planOwnership({
    rules: rulesOf(set),
    memory: noMemory,
    pods: typeof pods === 'string' ? words(pods).map((word) => pod(word, situation.templates)) : pods,
    revisions: revisions(set, situation.revisions),
    pvc: lookupOf(...there),
    allPvcs: () => there,
    isTaken: (name) => situation.taken?.includes(name.replace('web-', '')) === true,
    storageClass: () => undefined,
    now: NOW,
  });
}

export const planned = (situation: Situation): Plan => plan(factsOf(situation));

/** web-1 is `1`. */
const short = (name = ''): string => (identityOf(name)?.parent === 'web' ? String(identityOf(name)?.ordinal) : name);

function inWords(action: Action): string {
  switch (action.do) {
    case 'create':
      return `create ${short(action.slot.name)}@${action.revision.replace('web-', '')}${storageIn(action)}`;
    case 'delete':
      return `delete ${short(action.pod.metadata.name)} (${action.reason})`;
    case 'storage':
      return `storage ${short(action.pod.metadata.name)}${storageIn(action)}`;
    case 'pvc-owners':
      return `owners ${short(action.pod)}`;
    case 'grow':
      return `grow ${action.pvc.metadata.name}`;
    case 'repair':
      return `repair ${short(action.pod.metadata.name)}`;
  }
}

function storageIn({ pvcs, terminating }: { pvcs: readonly Pvc[]; terminating: readonly string[] }): string {
  return [...pvcs.map(({ metadata }) => ` +${metadata.name}`), ...terminating.map((name) => ` (${name} is going)`)].join('');
}

/** `create 0@new, create 1@new; delete 2 (update)`. */
export const actionsOf = ({ groups }: Pick<Plan, 'groups'>): string => groups.map((group) => group.map(inWords).join(', ')).join('; ');

/** `1 NotReady`; '' when it waits for nothing. */
export const waitOf = ({ waits }: Pick<Plan, 'waits'>): string => (waits === undefined ? '' : `${short(waits.object)} ${waits.reason}`);

/** `replicas/ready/available current/updated`. */
export function numbersOf(status: Readonly<StatefulSetStatus>): string {
  const { replicas, readyReplicas = 0, availableReplicas = 0, currentReplicas = 0, updatedReplicas = 0 } = status;
  return `${replicas}/${readyReplicas}/${availableReplicas} ${currentReplicas}/${updatedReplicas}`;
}
