import type { OwnerReference } from '../../../../kube/api/object.ts';
import { podInfoOf, type PodInfo } from '../../../../scheduler/pod/pod-info.ts';
import type { DeletionFacts } from '../../../../scheduler/reservation/contract.ts';
import type { DaemonSet, StatefulSet } from '../../../../scheduler/types.ts';
import { defaultSchedulerConfig, type ReservationConfig } from '../../../../scheduler/config/config.ts';
import { node, pod, type PodBuilder } from '../builders.ts';

export const SECOND = 1_000;
/** Wall clock. */
export const T0 = Date.parse('2026-03-01T00:00:00Z');

export const config = (over: Partial<ReservationConfig> = {}): ReservationConfig => ({ ...defaultSchedulerConfig.reservation, ...over });

export const isOwnScheduler = (schedulerName: string): boolean => schedulerName === 'default-scheduler';

/** StatefulSet `default/web`: 3 replicas at revision `old`, on its way to `new`; its status has seen everything. */
export function web(over: { spec?: object; status?: object; metadata?: object; schedulerName?: string } = {}): StatefulSet {
  const { schedulerName } = over;
  const template = {
    metadata: { labels: { app: 'web' } },
    spec: { containers: [], ...(schedulerName === undefined ? {} : { schedulerName }) },
  };
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { namespace: 'default', name: 'web', uid: 'uid-web', generation: 2, ...over.metadata },
    spec: { replicas: 3, serviceName: 'web', selector: {}, template, ...over.spec },
    status: { replicas: 3, currentRevision: 'old', updateRevision: 'new', observedGeneration: 2, ...over.status },
  };
}

const numbers = { currentNumberScheduled: 1, desiredNumberScheduled: 1, numberMisscheduled: 0, numberReady: 1 };

export function agent(over: { spec?: object; status?: object; metadata?: object } = {}): DaemonSet {
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { namespace: 'default', name: 'agent', uid: 'uid-agent', generation: 2, ...over.metadata },
    spec: { selector: {}, template: { spec: { containers: [] } }, ...over.spec },
    status: { ...numbers, observedGeneration: 2, ...over.status },
  };
}

/** A pod of `default/web`, as it was before it went. */
export function member(name = 'web-2', on = 'n1'): PodBuilder {
  return pod(name).ownedBy('StatefulSet', 'web').labels({ app: 'web', 'controller-revision-hash': 'old' }).cpu('1').on(on).terminating();
}

/** Of a DaemonSet: it asks for its node by name. */
export function daemon(name = 'agent-x', on = 'n1'): PodBuilder {
  const matchFields = [{ key: 'metadata.name', operator: 'In', values: [on] }];
  return pod(name)
    .ownedBy('DaemonSet', 'agent')
    .labels({ 'controller-revision-hash': 'old' })
    .affinity({ nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchFields }] } } })
    .on(on)
    .terminating();
}

/** The one that comes after it: new, and without a place. */
export function successor(name = 'web-2', cpu = '1', uid = `uid-${name}-next`): PodBuilder {
  return pod(name).uid(uid).ownedBy('StatefulSet', 'web').labels({ app: 'web', 'controller-revision-hash': 'new' }).cpu(cpu);
}

export const info = (of: PodBuilder): PodInfo => podInfoOf(of.build());

export function deletion(over: Partial<Omit<DeletionFacts, 'pod'>> & { pod?: PodBuilder } = {}): DeletionFacts {
  const { pod: gone = member(), ...rest } = over;
  return { pod: info(gone), unseen: false, set: web(), newestRevision: 'new', node: node('n1').build(), now: T0, ...rest };
}

/** Owned by something of another group. */
export function withOwner(of: PodBuilder, owner: Partial<OwnerReference>): PodBuilder {
  return of.metadata({ ownerReferences: (of.build().metadata.ownerReferences ?? []).map((one) => ({ ...one, ...owner })) });
}
