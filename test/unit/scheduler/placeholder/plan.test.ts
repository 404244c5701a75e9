import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type PodInfo, podInfoOf } from '../../../../scheduler/pod/pod-info.ts';
import type { Reservation } from '../../../../scheduler/reservation/contract.ts';
import { exceeds, placeholderKey, placeholderOf, placeholderOldUid, type PlaceholderPod, planPlaceholders } from '../../../../scheduler/placeholder/plan.ts'; // prettier-ignore
import { createReservations } from '../../../../scheduler/reservation/reservations.ts';
import type { Pod } from '../../../../scheduler/types.ts';
import type { PodBuilder } from '../builders.ts';
import { config, deletion, isOwnScheduler, member, SECOND } from '../reservation/situations.ts';
import { SeenPlaceholders } from '../../../../scheduler/placeholder/hooks.ts';

/** Of `web-N`, on n1. */
function reservationOf(gone: PodBuilder = member(), over: Partial<Reservation> = {}): Reservation {
  const { reservation } = createReservations(config(), isOwnScheduler).podDeleted(deletion({ pod: gone }));
  assert.ok(reservation !== undefined);
  return { ...reservation, ...over };
}

/** As the server has it. */
function made(reservation: Reservation, change: (pod: Pod) => void = () => {}): PodInfo {
  const pod = structuredClone(placeholderOf(reservation, 'pause:1', 60 * SECOND));
  pod.metadata.uid = `uid-of-mirror-${reservation.name}`;
  change(pod);
  return podInfoOf(pod);
}

test('a placeholder pod requests what is reserved, has no owner, has the priority of the reservation and ends by itself', () => {
  const gone = member().port(80).asks('example.com/gpu', '2').memory('1Gi').spec({ priorityClassName: 'high' });
  const reservation = reservationOf(gone);
  const { metadata, spec } = placeholderOf(reservation, 'pause:1', 660 * SECOND);
  assert.equal(metadata.name, 'web-2-room-efaultweb2');
  assert.deepEqual(metadata.labels, { 'dkc.dev/room': 'kept', 'dkc.dev/room-of-uid': reservation.oldUid });
  assert.deepEqual(metadata.annotations, { 'dkc.dev/room-of': 'web-2' });
  assert.deepEqual(metadata.ownerReferences, [{ apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: 'uid-web', controller: false }]); // prettier-ignore
  const [container] = spec?.containers ?? [];
  assert.deepEqual(container?.resources, { requests: { cpu: '1000m', memory: '1073741824', 'example.com/gpu': '2' }, limits: { 'example.com/gpu': '2' } }); // prettier-ignore
  assert.equal(container?.ports?.[0]?.hostPort, 80);
  assert.deepEqual([spec?.nodeName, spec?.priorityClassName, spec?.schedulerName], ['n1', 'high', 'default-scheduler']);
  assert.deepEqual([spec?.activeDeadlineSeconds, spec?.terminationGracePeriodSeconds], [660, 0]);
  assert.equal(exceeds(reservation, made(reservation)), false);
});

const own = 'uid-default-web-2';
const looks: { why: string; change: (pod: Pod) => void; is: string | undefined }[] = [
  { why: 'as it was made', change: () => {}, is: own },
  { why: 'has not its label', change: (pod) => delete pod.metadata.labels?.['dkc.dev/room'], is: undefined },
  { why: 'has a controller', change: (pod) => pod.metadata.ownerReferences?.forEach((owner) => Object.assign(owner, { controller: true })), is: undefined }, // prettier-ignore
  { why: 'is of another scheduler', change: (pod) => Object.assign(pod.spec ?? {}, { schedulerName: 'other' }), is: undefined },
];
for (const { why, change, is } of looks)
  test(`a pod ${why}: it is ${is === undefined ? 'not ' : ''}a placeholder pod of ours`, () =>
    assert.equal(placeholderOldUid(made(reservationOf(), change), isOwnScheduler), is));

/*
 * Reservations are written ordinal:state, and their placeholder pods by the same ordinals: `?` when it is not known whether it exists, `+` when it requests more than is reserved.
 */
type Words = Partial<Record<'kept' | 'given' | 'placeholders' | 'due' | 'make' | 'remove', string>>;
const plans: ({ why: string } & Words)[] = [
  { why: 'nothing is reserved' },
  { why: 'there are reservations', kept: '0:active 1:active', make: '0 1' },
  { why: 'one has a placeholder pod', kept: '0:active 1:claimed', placeholders: '0 1' },
  { why: 'the reservation ended', placeholders: '0 1?', remove: '0 1' },
  { why: 'the successor is bound next', given: '0:claimed', placeholders: '0', due: '0', remove: '0' },
  { why: 'the successor is deleted while its binding cycle runs', kept: '0:active', placeholders: '0', due: '0', remove: '0' },
  { why: 'the placeholder pod requests more than is reserved', kept: '0:claimed', placeholders: '0+', remove: '0' },
];
for (const { why, kept = '', given = '', placeholders = '', due = '', make = '', remove = '' } of plans)
  test(`which placeholder pods are created and deleted when ${why}`, () => {
    const names = (text: string): string[] => text.split(' ').filter((name) => name !== '');
    const reservation = (text: string): Reservation => {
      const [name = '', state = 'active'] = text.split(':');
      return { ...reservationOf(member(`web-${name}`)), state: state === 'claimed' ? 'claimed' : 'active' };
    };
    const uid = (name: string): string => reservation(name).oldUid;
    const placeholder = (text: string): PlaceholderPod => {
      const of = reservation(text.replace(/[?+]/, ''));
      const info = made(text.endsWith('+') ? { ...of, heldPod: { ...of.heldPod, requests: { ...of.heldPod.requests, cpu: 2_000 } } } : of);
      const unknown = text.endsWith('?');
      return { key: placeholderKey(of), node: 'n1', oldUid: of.oldUid, uid: unknown ? '' : info.uid, info: unknown ? undefined : info };
    };
    const plan = planPlaceholders({
      kept: names(kept).map(reservation),
      given: names(given).map(reservation),
      placeholders: names(placeholders).map(placeholder),
      due: new Set(names(due).map(uid)),
      had: new Set(),
    });
    assert.deepEqual([plan.make.map(({ name }) => name), plan.remove.map(({ placeholder: { key } }) => key)], [names(make).map((name) => `web-${name}`), names(remove).map((name) => placeholderKey(reservation(name)))]); // prettier-ignore
  });

/** A reservation, and the placeholder pods that the cache shows of it. */
function stage() {
  const reservations = createReservations(config(), isOwnScheduler);
  const counted: string[] = [];
  const state = {
    countPod: ({ uid }: PodInfo) => void counted.push(`+${uid}`),
    ignorePod: (uid: string) => void counted.push(`-${uid}`),
    placed: () => undefined,
  };
  const seen = new SeenPlaceholders({ state, reservations, isOwnScheduler });
  const { reservation = assert.fail() } = reservations.podDeleted(deletion({ pod: member() }));
  return { reservations, seen, counted, reservation };
}

test('whether a placeholder pod counts on its node is decided when the cache first shows it', () => {
  const s = stage();
  const { reservation } = s;
  const called = (uid: string) => made(reservation, (pod) => (pod.metadata.uid = uid));
  const cpu = (amount: string) => (pod: Pod) => Object.assign(pod.spec?.containers[0] ?? {}, { resources: { requests: { cpu: amount } } });
  assert.equal(s.seen.ignores(made(reservation, cpu('2'))), false, 'it requests more than is reserved');
  assert.equal(s.seen.hasPlaceholderFor(reservation), false);
  const forged = made(reservation, ({ metadata }) => Object.assign(metadata, { uid: 'u2', name: 'forged' }));
  assert.equal(s.seen.ignores(forged), false, 'it has another name');
  assert.equal(s.seen.ignores(called('u3')), true);
  assert.equal(s.seen.hasPlaceholderFor(reservation), true);
  // Created by this process, and changed by a webhook; or shown when its reservation has ended.
  s.seen.expect(placeholderKey(reservation));
  assert.equal(s.seen.ignores(made(reservation, (pod) => ((pod.metadata.uid = 'u4'), cpu('2')(pod)))), true);
  s.seen.made(placeholderKey(reservation), 'u5');
  s.reservations.setChanged('uid-web', undefined);
  assert.equal(s.seen.ignores(called('u5')), true);
  assert.equal(s.seen.ignores(called('u6')), false, 'nothing is reserved');
  s.seen.count('u3');
  assert.deepEqual(s.counted, ['+u3']);
  assert.deepEqual([s.seen.deleted(called('u3')), s.seen.deleted(called('u5'))], [false, true]); // prettier-ignore
});
