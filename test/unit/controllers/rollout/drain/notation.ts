import type { NodeCondition, PodSpec, PodStatus } from 'kubernetes-types/core/v1.js';
import { cordonPatch, type LifecycleCondition, planConditions } from '../../../../../controllers/rollout/drain/record.ts';
import type { DrainOwner, DrainStep, Node, Pod } from '../../../../../controllers/rollout/drain/contract.ts';
import { unreachable } from '../../../../../base/errors.ts';

export const START = Date.parse('2026-03-01T00:00:00Z');
export const web: DrainOwner = { name: 'web', uid: 'u-web' };
export const other: DrainOwner = { name: 'other', uid: 'u-other' };

const flags: Readonly<Record<string, (pod: Pod & { spec: PodSpec; status: PodStatus }) => void>> = {
  bare: ({ metadata }) => delete metadata.ownerReferences,
  daemon: ({ metadata }) => (metadata.ownerReferences = [ownerRef('DaemonSet')]),
  emptydir: ({ spec }) => (spec.volumes = [{ name: 'scratch', emptyDir: {} }]),
  mirror: ({ metadata }) => (metadata.annotations = { 'kubernetes.io/config.mirror': 'x' }),
  succeeded: ({ status }) => (status.phase = 'Succeeded'),
  failed: ({ status }) => (status.phase = 'Failed'),
  tolerant: ({ spec }) => (spec.tolerations = [{ operator: 'Exists' }]),
  late: ({ metadata }) => (metadata.creationTimestamp = new Date(START + 60_000).toISOString()),
  terminating: ({ metadata }) => (metadata.deletionTimestamp = new Date(START + 30_000).toISOString()),
  elsewhere: ({ spec }) => (spec.nodeName = 'node-b'),
};

/** `web db+bare agent+daemon+late`: pods of node-a in namespace shop, owned by a ReplicaSet and created before the drain unless flags say otherwise. */
export function pods(text: string): Pod[] {
  return text.split(' ').flatMap((word) => {
    const [name = '', ...said] = word.split('+');
    if (name === '') return [];
    const pod: Pod & { spec: PodSpec; status: PodStatus } = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name,
        namespace: 'shop',
        uid: `u-${name}`,
        creationTimestamp: new Date(START - 60_000).toISOString(),
        ownerReferences: [ownerRef('ReplicaSet')],
      },
      spec: { nodeName: 'node-a', containers: [{ name: 'c', image: 'i' }] },
      status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
    };
    for (const flag of said) {
      if (flags[flag] === undefined) throw new Error(`no flag ${flag}`);
      flags[flag](pod);
    }
    return [pod];
  });
}

function ownerRef(kind: string) {
  return { apiVersion: 'apps/v1', kind, name: 'o', uid: `u-${kind}`, controller: true };
}

/**
 * What a Node has been through, word after word: `drain` or `drain:other` (cordoned and recorded by a rollout at START), `cordon` and `uncordon` by a person,
 * `+DrainInProgress`, `+Drained:other`, `+Drained:person` (conditions), `garbage` (annotations that name no rollout).
 */
export function node(text = ''): Node {
  let made: Node & { status: { conditions: NodeCondition[] } } = { metadata: { name: 'node-a', uid: 'u-a', resourceVersion: '7' }, spec: {}, status: { conditions: [] } }; // prettier-ignore
  for (const word of text.split(' ').filter((one) => one !== '')) {
    const [act = '', by = 'web'] = word.split(':');
    const owner = by === 'web' ? web : other;
    if (act === 'drain') made = merged(made, cordonPatch(made, owner, START));
    else if (act === 'cordon') made = merged(made, { spec: { unschedulable: true } });
    else if (act === 'uncordon') made = merged(made, { spec: { unschedulable: null } });
    else if (act === 'garbage')
      made = merged(made, { metadata: { annotations: { 'dkc.dev/drained-by': 'x', 'dkc.dev/cordoned-by': '//' } } });
    else if (by === 'person') made.status.conditions.push({ type: act.slice(1), status: 'True', message: 'by hand' });
    else made.status.conditions.push(...conditionsOf(made, owner, act.slice(1) as LifecycleCondition));
  }
  return made;
}

function conditionsOf(of: Node, owner: DrainOwner, type: LifecycleCondition): NodeCondition[] {
  const step = planConditions({ ...of, status: {} }, owner, [type], START);
  if (step === undefined) throw new Error(`${type} is there already`);
  const { conditions } = step.body['status'] as { conditions: NodeCondition[] };
  return conditions;
}

function merged<T>(target: T, patch: object): T {
  const result: Record<string, unknown> = { ...(target as Record<string, unknown>) };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else if (typeof value === 'object') result[key] = merged(result[key] ?? {}, value as object);
    else result[key] = value;
  }
  return result as T;
}

/** A step in a line. */
export function print(step: DrainStep): string {
  switch (step.do) {
    case 'patch':
      return `${step.what}${step.subresource === 'status' ? conditionChanges(step.body) : `: ${changes(step.body)}`}`;
    case 'evict':
      return `evict ${step.pods.map(({ name }) => name).join(' ')}${step.gracePeriodSeconds === undefined ? '' : ` in ${step.gracePeriodSeconds} s`}`;
    case 'wait':
      return `wait ${step.requeueAfterMs / 1_000} s: ${step.why}`;
    case 'failed':
      return `failed ${step.reason}: ${step.why}`;
    case 'uncordon':
    case 'drained':
    case 'given-back':
      return step.do;
    default:
      return unreachable(step);
  }
}

/** The fields of a patch of metadata and spec, without those that identify the Node. */
export function changes(body: object): string {
  const { metadata, spec } = body as {
    metadata: { annotations?: Record<string, string | null> };
    spec?: { unschedulable: boolean | null };
  };
  const annotations = Object.entries(metadata.annotations ?? {}).map(([name, value]) => `${name.replace('dkc.dev/', '')}=${value ?? ''}`);
  return [...annotations, ...(spec === undefined ? [] : [`unschedulable=${spec.unschedulable ?? ''}`])].join(' ');
}

function conditionChanges(body: object): string {
  const { conditions } = (body as { status: { conditions: { type: string; $patch?: string }[] } }).status;
  return conditions.map(({ type, $patch }) => ` ${$patch === 'delete' ? '-' : '+'}${type}`).join('');
}
