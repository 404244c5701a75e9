import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DeletionFacts } from '../../../../scheduler/reservation/contract.ts';
import { podInfoOf } from '../../../../scheduler/pod/pod-info.ts';
import { decide, type DecisionRules } from '../../../../scheduler/reservation/decide.ts';
import { keeper } from '../as-kept.ts';
import { node, pod } from '../builders.ts';
import { agent, config, daemon, deletion, isOwnScheduler, member, web, withOwner } from './situations.ts';

interface Case {
  why: string;
  facts: DeletionFacts;
  rules?: Partial<DecisionRules>;
  /** What is decided: a purpose, or who says no. */
  is: string;
  says: RegExp;
}

const alive = (name?: string): ReturnType<typeof member> => {
  const of = member(name);
  delete of.build().metadata.deletionTimestamp;
  return of;
};
/** The rollout is over, or has not begun: nothing differs. */
const settled = { set: web({ status: { updateRevision: 'old' } }), newestRevision: 'old' };
const disrupted = (status: string): DeletionFacts =>
  deletion({ pod: member().status({ conditions: [{ type: 'DisruptionTarget', status, reason: 'EvictionByEvictionAPI' }] }) });
const tainted = (effect: string): DeletionFacts => deletion({ node: node('n1').taints({ key: 'k', effect }).build() });
const kruise = new Set(['apps.kruise.io/StatefulSet']);

const ofKruise = (of = member()): ReturnType<typeof member> => withOwner(of, { apiVersion: 'apps.kruise.io/v1beta1' });
const daemons = { daemonSets: true };
const ofDaemon = (over: Partial<DeletionFacts> = {}, of = daemon()): DeletionFacts =>
  ({ ...deletion({ pod: of, set: undefined }), daemonSet: agent(), ...over }); // prettier-ignore
const partition = (count: number, status: object = {}): DeletionFacts['set'] =>
  web({ spec: { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: count } } }, status });
const reserving = (text: string, replicas: number): DeletionFacts['set'] =>
  web({ spec: { replicas }, metadata: { annotations: { 'dkc.dev/reserve-ordinals': text } } });

const kept = keeper();
/** The same, of objects as the caches have them. */
const asKept = ({ pod: of, set, daemonSet, node: on, ...rest }: DeletionFacts): DeletionFacts => ({
  ...rest,
  pod: podInfoOf(kept.pod(of.pod)),
  set: set && kept.statefulSet(set),
  daemonSet: daemonSet && kept.daemonSet(daemonSet),
  node: on && kept.node(on),
});

const cases: Case[] = [
  { why: 'a pod of an old revision goes while its set rolls', facts: deletion(), is: 'upgrade', says: /of revision old, and the set is being updated to new/ },
  { why: 'it is switched off', facts: deletion(), rules: { enabled: false }, is: 'disabled', says: /enabled is false/ },

  // Whose pods.
  { why: 'a pod has no controller', facts: deletion({ pod: pod('web-2').on('n1').terminating() }), is: 'owner', says: /no controller/ },
  { why: 'StatefulSets are not listed', facts: deletion(), rules: { ownerKinds: kruise }, is: 'owner', says: /apps\/StatefulSet/ },

  // The set.
  { why: 'the set is gone', facts: deletion({ set: undefined }), is: 'set', says: /StatefulSet web was deleted/ },
  { why: 'the set is another one of that name', facts: deletion({ set: web({ metadata: { uid: 'uid-web-2' } }) }), is: 'set', says: /created again/ },
  { why: 'the set is being deleted', facts: deletion({ set: web({ metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } }) }), is: 'set', says: /being deleted/ },
  { why: 'the set wants another scheduler now', facts: deletion({ set: web({ schedulerName: 'other' }) }), is: 'set', says: /uses scheduler other/ },

  // Its place.
  { why: 'the set shrank below it', facts: deletion({ set: web({ spec: { replicas: 2 } }) }), is: 'place', says: /2 replicas, none with ordinal 2/ },
  { why: 'ordinals begin so that it is one too many', facts: deletion({ pod: member('web-8'), set: web({ spec: { ordinals: { start: 5 } } }) }), is: 'place', says: /none with ordinal 8/ },
  { why: 'its name only looks like one of the set', facts: deletion({ pod: member('web-02') }), is: 'place', says: /not a pod name/ },
  { why: 'those that are left out move the end up', facts: deletion({ pod: member('web-4'), set: reserving('1, 3', 3) }), is: 'upgrade', says: /being updated/ },

  // How it went.
  { why: 'it had no place', facts: deletion({ pod: member('web-2', '') }), is: 'ended', says: /not on a node/ },
  { why: 'it had failed before', facts: deletion({ pod: member().status({ phase: 'Failed' }) }), is: 'ended', says: /Failed/ },
  { why: 'it was evicted or preempted', facts: disrupted('True'), is: 'disrupted', says: /EvictionByEvictionAPI/ },
  { why: 'we removed it for another, whatever it says', facts: deletion({ isVictim: true }), is: 'disrupted', says: /preempted/ },
  { why: 'nobody deleted it: it ended while it ran', facts: deletion({ pod: alive() }), is: 'revision', says: /it terminated, or its node evicted it/ },

  // The node.
  { why: 'it had succeeded before', facts: deletion({ pod: member().status({ phase: 'Succeeded' }) }), is: 'ended', says: /Succeeded/ },
  { why: 'the DaemonSet is another', facts: ofDaemon({ daemonSet: agent({ metadata: { uid: 'x' } }) }), rules: daemons, is: 'set', says: /created again/ },
  { why: 'it says no revision, as adopted pods do', facts: deletion({ pod: member().labels({ 'controller-revision-hash': 'none' }) }), is: 'upgrade', says: /of revision none/ },
  { why: 'such a pod is placed by somebody else', facts: deletion({ pod: ofKruise().spec({ schedulerName: 'other' }), set: undefined }), rules: { ownerKinds: kruise }, is: 'set', says: /uses scheduler other/ },
  { why: 'the group of a pod that nobody knows the set of is listed', facts: deletion({ pod: ofKruise(), set: undefined }), rules: { ownerKinds: kruise }, is: 'upgrade', says: /its owner is not known/ },
  { why: 'its ordinal is left out', facts: deletion({ set: reserving('1-2', 3) }), is: 'place', says: /skips ordinal 2/ },
  { why: 'the node is gone', facts: deletion({ node: undefined }), is: 'node', says: /node n1 was deleted/ },
  { why: 'the node is cordoned', facts: deletion({ node: node('n1').cordoned().build() }), is: 'node', says: /cordoned/ },
  { why: 'the node refuses new pods', facts: tainted('NoSchedule'), is: 'node', says: /taint k:NoSchedule/ },
  { why: 'the node is not ready', facts: deletion({ node: node('n1').status({ conditions: [{ type: 'Ready', status: 'Unknown' }] }).build() }), is: 'node', says: /not ready/ },

  // The revision.
  { why: 'somebody deleted it and nothing rolls', facts: deletion(settled), is: 'revision', says: /same revision \(old\); only upgrades get a reservation/ },
  { why: 'the first pod of a rollout: the status has not seen the change', facts: deletion({ ...settled, set: web({ metadata: { generation: 3 }, status: { updateRevision: 'old' } }) }), is: 'upgrade', says: /generation 3/ },
  { why: 'the update for which its deletion began was taken back', facts: deletion({ ...settled, begunFor: 'to new' }), is: 'upgrade', says: /^to new$/ },
  { why: 'it is below the partition, at the current revision', facts: deletion({ set: partition(3) }), is: 'revision', says: /partition keeps the pod at revision old/ },

  // DaemonSets.
  { why: 'DaemonSets are not asked for', facts: ofDaemon(), is: 'owner', says: /apps\/DaemonSet/ },
  { why: 'a DaemonSet rolls', facts: ofDaemon(), rules: daemons, is: 'upgrade', says: /the newest is new/ },
  { why: 'the DaemonSet was changed, and its status has not seen it', facts: ofDaemon({ newestRevision: 'old', daemonSet: agent({ metadata: { generation: 3 } }) }), rules: daemons, is: 'upgrade', says: /generation 3/ },
  { why: 'the DaemonSet is gone', facts: ofDaemon({ daemonSet: undefined }), rules: daemons, is: 'set', says: /DaemonSet agent was deleted/ },
  { why: 'the DaemonSet surges by count', facts: ofDaemon({ daemonSet: agent({ spec: { updateStrategy: { rollingUpdate: { maxSurge: 1 } } } }) }), rules: daemons, is: 'set', says: /maxSurge/ },
  { why: 'the DaemonSet surged, and its successor is there', facts: ofDaemon({ otherOnNode: 'ns/agent-2' }), rules: daemons, is: 'place', says: /agent-2 is on the node/ },
  { why: 'the pod of the DaemonSet is not pinned', facts: ofDaemon({}, pod('agent-x').ownedBy('DaemonSet', 'agent').on('n1').terminating()), rules: daemons, is: 'place', says: /not pinned/ },
]; // prettier-ignore

for (const { why, facts, rules, is, says } of cases)
  test(`whether a reservation is made when ${why}`, () => {
    const all = { ...config(), isOwnScheduler, ...rules };
    const decision = decide(facts, all);
    assert.equal(decision.keep ? decision.purpose : decision.because, is, decision.why);
    assert.match(decision.why, says);
    assert.deepEqual(decide(asKept(facts), all), decision, 'from the caches');
  });
