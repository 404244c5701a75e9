import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { silentLog } from '../../../../base/log.ts';
import type { Client } from '../../../../kube/client/client.ts';
import type { Dropped, Reservation, Reservations } from '../../../../scheduler/reservation/contract.ts';
import { newestRevision } from '../../../../scheduler/reservation/decide.ts';
import { ReservationExpiry, reservationHooks, type ReservationHooksOptions } from '../../../../scheduler/reservation/hooks.ts';
import * as reporting from '../../../../scheduler/reservation/reporting.ts';
import { createReservations } from '../../../../scheduler/reservation/reservations.ts';
import type { ControllerRevision } from '../../../../scheduler/types.ts';
import { node, pod, type PodBuilder } from '../builders.ts';
import { agent, config, daemon, deletion, info, isOwnScheduler, member, SECOND, successor, T0, web, withOwner } from './situations.ts';

function keeping(over: Parameters<typeof deletion>[0] = {}): { kept: Reservations; reservation: Reservation } {
  const kept = createReservations(config({ daemonSets: true }), isOwnScheduler);
  const { reservation, decision } = kept.podDeleted(deletion(over));
  assert.ok(reservation !== undefined, decision.why);
  return { kept, reservation };
}

const cases: { why: string; who: PodBuilder; has: boolean }[] = [
  { why: 'the next one of the name', who: successor(), has: true },
  { why: 'the pod itself, told of late', who: successor('web-2', '1', 'uid-default-web-2'), has: false },
  { why: 'one of the name with another owner', who: withOwner(successor(), { uid: 'uid-web-anew' }), has: false },
];
for (const { why, who, has } of cases)
  test(`a reservation is ${has ? '' : 'not '}for ${why}`, () => {
    const { kept, reservation } = keeping();
    assert.equal(kept.of(info(who)), has ? reservation : undefined);
    assert.equal(kept.isVisibleTo(reservation, info(who)), !has);
    assert.deepEqual(kept.podsFor(info(who), 'n1'), has ? [] : [reservation.heldPod]);
    assert.deepEqual(kept.podsFor(info(who), 'n2'), []);
  });

test('of each resource the reservation holds what the successor requests, as far as it was reserved or is free', () => {
  const { kept, reservation } = keeping({ pod: member().memory('2Gi').asks('example.com/gpu', '2').asks('example.com/disk', '1').asks('ephemeral-storage', '1Gi') }); // prettier-ignore
  const next = successor('web-2', '3').memory('1Gi').asks('example.com/gpu', '4').asks('example.com/nic', '3').asks('ephemeral-storage', '1Gi').port(81); // prettier-ignore
  const spare = { cpu: 500, memory: 0, ephemeral: -5, scalars: new Map([['example.com/gpu', 1]]) };
  const { reservation: after } = kept.podSeen(info(next), () => ({ node: deletion().node, spare }), T0);
  assert.ok(after !== undefined);
  const { requests, uid, ports } = after.heldPod;
  assert.equal(uid, reservation.heldPod.uid);
  assert.deepEqual(ports.map(({ port }) => port), [81]); // prettier-ignore
  assert.deepEqual([requests.cpu, requests.memory, requests.ephemeral], [1_500, 2 ** 30, 2 ** 30]);
  assert.deepEqual([...requests.scalars], [['example.com/gpu', 3]]);
  assert.deepEqual([requests.scoredCpu, requests.scoredMemory], [1_500, 2 ** 30]);
});

test('claims of the deleted pod count as in use for all pods but its successor', () => {
  const volumes = [
    { name: 'data', persistentVolumeClaim: { claimName: 'data-web-2' } },
    { name: 'tmp', ephemeral: {} },
  ];
  const { kept, reservation } = keeping({ pod: member().spec({ volumes }) });
  const users = (who: PodBuilder, claim: string): unknown => kept.claimUsers(info(who), claim);
  const heldPod = [{ pod: reservation.heldPod, node: 'n1' }];
  assert.deepEqual(users(successor('web-1'), 'data-web-2'), heldPod);
  assert.deepEqual(users(successor('web-1'), 'web-2-tmp'), heldPod);
  assert.deepEqual(users(successor(), 'data-web-2'), []);
  assert.deepEqual(users(successor('web-1'), 'data-web-1'), []);
  assert.deepEqual(users(pod('other/web-1'), 'data-web-2'), []);
  assert.deepEqual(users(pod('vip').priority(1), 'data-web-2'), []);
});

test('the successor of a pod of a DaemonSet is recognized by its node', () => {
  const { kept, reservation } = keeping({ pod: daemon('agent-x', 'n1'), set: undefined, daemonSet: agent() });
  const waiting = (name: string, on: string): PodBuilder => daemon(name, on).on('').labels({ 'controller-revision-hash': 'new' });
  assert.equal(kept.of(info(waiting('agent-y', 'n1'))), reservation);
  assert.equal(kept.of(info(waiting('agent-z', 'n2'))), undefined);
  assert.equal(kept.isVisibleTo(reservation, info(waiting('agent-z', 'n2'))), true);
  assert.equal(kept.of(info(withOwner(waiting('agent-z', 'n1'), { uid: 'uid-other' }))), undefined);
  assert.equal(kept.podPlaced(info(daemon('agent-z', 'n2'))).length, 0);
  assert.match(kept.podPlaced(info(daemon('agent-y', 'n1')))[0]?.why ?? '', /agent-y is on node n1/);
  assert.equal(kept.size, 0);
  kept.podDeleted(deletion({ pod: daemon('agent-y', 'n1'), set: undefined, daemonSet: agent() }));
  assert.match(kept.setChanged('uid-agent', undefined)[0]?.why ?? '', /DaemonSet agent was deleted/);
});

const reasons: [why: string, does: (kept: Reservations) => readonly Dropped[], says: RegExp | undefined][] = [
  ['its time is over', (kept) => kept.expire(T0 + 60 * SECOND), /no successor was created in time/],
  ['the set shrinks below it', (kept) => kept.setChanged('uid-web', web({ spec: { replicas: 2 } })), /2 replicas, none with ordinal 2/],
  ['the set is deleted', (kept) => kept.setChanged('uid-web', undefined), /StatefulSet web was deleted/],
  ['its node is cordoned', (kept) => kept.nodeChanged('n1', node('n1').cordoned().build()), /n1 is cordoned/],
  ['its node is deleted', (kept) => kept.nodeChanged('n1', undefined), /n1 was deleted/],
  ['a successor has a place by the doing of others', (kept) => kept.podPlaced(info(successor().on('n7'))), /web-2 is on node n7/],
  ['pods of higher priority took the capacity', (kept) => kept.recheck('n1', () => false), /no free capacity for it any more/],
  ['its capacity is still free', (kept) => kept.recheck('n1', () => true), undefined],
];
for (const [why, does, says] of reasons)
  test(`a reservation is ${says === undefined ? 'kept' : 'dropped'} when ${why}`, () => {
    const { kept } = keeping();
    const [dropped] = does(kept);
    if (says !== undefined) assert.match(dropped?.why ?? '', says);
    assert.equal(kept.size, says === undefined ? 1 : 0);
  });

test('a successor has five minutes from its first rejection, and its reservation back when its binding fails', () => {
  const { kept, reservation } = keeping();
  const next = info(successor());
  const left = () => ((kept.list()[0]?.expiresAt ?? T0) - T0) / SECOND;
  kept.podSeen(next, () => ({ node: deletion().node, spare: undefined }), T0 + 50 * SECOND);
  assert.equal(left(), 110);
  kept.podFailed(next, T0 + 60 * SECOND);
  assert.equal(left(), 360);
  const released = kept.assumed(next) ?? assert.fail('nothing was reserved for it');
  assert.equal(kept.size, 0);
  assert.equal(kept.restore(released, T0 + 100 * SECOND)?.node, reservation.node);
  assert.equal(left(), 360);
  kept.pendingPodDeleted(next, T0 + 100 * SECOND);
  assert.deepEqual([kept.list()[0]?.state, left()], ['active', 160]);
  kept.bound(released);
  assert.equal(kept.restore(released, T0 + 100 * SECOND), undefined, 'what was bound is not given back');
});

test('the deleted pod is read from the API server once, shortly before its reservation expires, and extends it if it still exists', async () => {
  const { kept, reservation } = keeping();
  const { expiresAt } = reservation;
  const dropped: Dropped[] = [];
  const asked: string[] = [];
  let [now, uid] = [T0, reservation.oldUid];
  const get = async (_: unknown, { name }: { name: string }) => {
    asked.push(name);
    if (uid === 'unknown') throw new Error('503');
    return member(name).uid(uid).build();
  };
  const client = { get } as unknown as Pick<Client, 'get'>;
  const expiry = new ReservationExpiry({ reservations: kept, now: () => now, client }, (list) => dropped.push(...list));
  const tick = async (at: number): Promise<number | undefined> => {
    now = at;
    const next = expiry.tick(new AbortController().signal);
    await setImmediate();
    return next;
  };
  assert.equal(await tick(T0), expiresAt - 5 * SECOND, 'the next look');
  assert.deepEqual(asked, []);
  uid = 'unknown';
  for (let n = 0; n < 10; n++) await tick(expiresAt - 6 * SECOND + 100 * n);
  for (let n = 0; n < 6; n++) await tick(expiresAt - 5 * SECOND + 99 * n);
  assert.equal(asked.length, 1, 'not at each event');
  uid = reservation.oldUid;
  await tick(expiresAt - 4 * SECOND);
  const later = kept.list()[0]?.expiresAt ?? 0;
  assert.ok(later > expiresAt, 'its expiry is later');
  await tick(expiresAt + SECOND);
  assert.deepEqual([asked, dropped.length], [['web-2', 'web-2'], 0]);
  uid = 'another';
  await tick(later - SECOND);
  await tick(later + SECOND);
  assert.deepEqual([asked.length, dropped.length, kept.size], [3, 1, 0]);
  assert.equal(await tick(later + 2 * SECOND), undefined, 'there are no reservations');
});

test('the events and texts of a reservation', () => {
  const { reservation } = keeping({ pod: member().port(80).asks('example.com/gpu', '2').memory('1Gi') });
  const ended = { reservation, why: 'no successor was created in time' };
  const { createdEvent, placedEvent, endedEvent, unseenEvent } = reporting;
  const events = [createdEvent(reservation), placedEvent(reservation, 'n1'), placedEvent(reservation, 'n2'), endedEvent({ ...ended, result: 'expired' }), unseenEvent(reservation, 'no')]; // prettier-ignore
  assert.deepEqual(events.map(({ type, reason, message }) => `${type} ${reason}: ${message}`), [
    'Normal ReservationCreated: Room of pod default/web-2 on node n1 is kept until 2026-03-01T00:01:00Z',
    'Normal ReservationUsed: Placed in the room kept on node n1',
    'Normal ReservationMissed: Placed on node n2 instead of the room kept on node n1',
    'Warning ReservationExpired: Room of pod default/web-2 on node n1 is given up: no successor was created in time',
    'Warning ReservationNotMirrored: Room of pod default/web-2 on node n1 is not shown to other schedulers: no',
  ]); // prettier-ignore
  assert.equal(endedEvent({ ...ended, result: 'dropped' }).type, 'Normal');
  assert.deepEqual(reporting.ownerReference(reservation), { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', namespace: 'default', uid: 'uid-web', resourceVersion: '', fieldPath: '' }); // prettier-ignore
});

test('the newest revision is what pods have in their labels: a name, or a hash', () => {
  const revision = (name: string, number: number, uid = 'uid-web'): ControllerRevision => ({ metadata: { name, labels: { 'controller-revision-hash': `hash-of-${name}` }, ownerReferences: [{ apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid, controller: true }] },
    revision: number,
  }); // prettier-ignore
  const revisions = [revision('web-b', 9), revision('web-a', 10), revision('web-c', 99, 'uid-other')];
  assert.equal(newestRevision(revisions, { kind: 'StatefulSet', uid: 'uid-web' }), 'web-a');
  assert.equal(newestRevision(revisions, { kind: 'DaemonSet', uid: 'uid-web' }), 'hash-of-web-a');
  assert.equal(newestRevision([], { kind: 'StatefulSet', uid: 'uid-web' }), undefined);
});

test('the dump of a reservation has its times as ISO 8601, and no whole pod', () => {
  const { kept } = keeping({ pod: member().cpu('500m').memory('1Ki').priority(7) });
  kept.podSeen(info(successor('web-2', '500m').memory('1Ki').priority(7)), () => ({ node: deletion().node, spare: undefined }), T0);
  const why = 'the pod is of revision old, and the set is being updated to new';
  const of = { namespace: 'default', name: 'web-2', node: 'n1', owner: 'StatefulSet/web', priority: 7, claimedBy: 'uid-web-2-next' };
  const times = { createdAt: '2026-03-01T00:00:00.000Z', expiresAt: '2026-03-01T00:01:00.000Z' };
  const view = { ...of, ...times, state: 'claimed', purpose: 'upgrade', why, requests: { cpu: '500m', memory: '1024' } };
  assert.deepEqual(reporting.reservationViews(kept.list()), [view]);
});

test('a time to live below a second is a second', () => {
  const kept = createReservations(config({ ttlMs: 0 }), isOwnScheduler);
  kept.podDeleted(deletion());
  assert.equal(kept.nextExpiry, T0 + 1_000);
});

test('a reservation is dropped when its successor has another scheduler, or may not run on the node', () => {
  const dropped = (next: PodBuilder, on = deletion().node): string | undefined =>
    keeping().kept.podSeen(info(next), () => ({ node: on, spare: undefined }), T0).dropped[0]?.why;
  assert.equal(dropped(successor().spec({ schedulerName: 'other' })), 'its successor uses scheduler other');
  assert.equal(dropped(successor(), node('n1').cordoned().build()), 'node n1 is cordoned');
});

test('a new leader does not report what expired under the one before', () => {
  const { kept: reservations, reservation } = keeping();
  const done: string[] = [];
  const note = (what: string) => () => void done.push(what);
  const state = { now: () => reservation.expiresAt, pending: { onHoldReleased: note('requeued') } } as unknown as ReservationHooksOptions['state']; // prettier-ignore
  const [events, meters] = [() => ({ event: note('event') }), { ended: note('counted') }] as unknown as [ReservationHooksOptions['events'], ReservationHooksOptions['meters']]; // prettier-ignore
  const client = {} as ReservationHooksOptions['client'];
  const hooks = reservationHooks({ state, reservations, placeholders: undefined, onSets: undefined, client, events, meters, log: silentLog }); // prettier-ignore
  const { signal } = new AbortController();
  hooks.start(signal);
  hooks.tick(signal);
  assert.deepEqual([done, reservations.size], [['requeued'], 0]);
});
