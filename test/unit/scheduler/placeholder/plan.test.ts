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
function roomOf(gone: PodBuilder = member(), over: Partial<Reservation> = {}): Reservation {
  const { reservation } = createReservations(config(), isOwnScheduler).podDeleted(deletion({ pod: gone }));
  assert.ok(reservation !== undefined);
  return { ...reservation, ...over };
}

/** As the server has it. */
function made(room: Reservation, change: (pod: Pod) => void = () => {}): PodInfo {
  const pod = structuredClone(placeholderOf(room, 'pause:1', 60 * SECOND));
  pod.metadata.uid = `uid-of-mirror-${room.name}`;
  change(pod);
  return podInfoOf(pod);
}

test('a pod that stands for the room takes what is kept, is nobody, is as important and ends by itself', () => {
  const gone = member().port(80).asks('example.com/gpu', '2').memory('1Gi').spec({ priorityClassName: 'high' });
  const room = roomOf(gone);
  const { metadata, spec } = placeholderOf(room, 'pause:1', 660 * SECOND);
  assert.equal(metadata.name, 'web-2-room-efaultweb2');
  assert.deepEqual(metadata.labels, { 'dkc.dev/room': 'kept', 'dkc.dev/room-of-uid': room.oldUid });
  assert.deepEqual(metadata.annotations, { 'dkc.dev/room-of': 'web-2' });
  assert.deepEqual(metadata.ownerReferences, [{ apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: 'uid-web', controller: false }]); // prettier-ignore
  const [container] = spec?.containers ?? [];
  assert.deepEqual(container?.resources, { requests: { cpu: '1000m', memory: '1073741824', 'example.com/gpu': '2' }, limits: { 'example.com/gpu': '2' } }); // prettier-ignore
  assert.equal(container?.ports?.[0]?.hostPort, 80);
  assert.deepEqual([spec?.nodeName, spec?.priorityClassName, spec?.schedulerName], ['n1', 'high', 'default-scheduler']);
  assert.deepEqual([spec?.activeDeadlineSeconds, spec?.terminationGracePeriodSeconds], [660, 0]);
  assert.equal(exceeds(room, made(room)), false);
});

const own = 'uid-default-web-2';
const looks: { why: string; change: (pod: Pod) => void; is: string | undefined }[] = [
  { why: 'as it was made', change: () => {}, is: own },
  { why: 'has not its label', change: (pod) => delete pod.metadata.labels?.['dkc.dev/room'], is: undefined },
  { why: 'has a controller', change: (pod) => pod.metadata.ownerReferences?.forEach((owner) => Object.assign(owner, { controller: true })), is: undefined }, // prettier-ignore
  { why: 'is of another scheduler', change: (pod) => Object.assign(pod.spec ?? {}, { schedulerName: 'other' }), is: undefined },
];
for (const { why, change, is } of looks)
  test(`a pod ${why}: it is ${is === undefined ? 'not ' : ''}taken for one of ours`, () =>
    assert.equal(placeholderOldUid(made(roomOf(), change), isOwnScheduler), is));

/*
 * Rooms are written ordinal:state, and pods that stand for rooms by the same ordinals: `?` when nobody knows whether it is there, `+` when it takes more than the room.
 */
type Words = Partial<Record<'kept' | 'given' | 'placeholders' | 'due' | 'make' | 'remove', string>>;
const plans: ({ why: string } & Words)[] = [
  { why: 'nothing is kept' },
  { why: 'room is kept', kept: '0:active 1:active', make: '0 1' },
  { why: 'one stands', kept: '0:active 1:claimed', placeholders: '0 1' },
  { why: 'the reservation ended', placeholders: '0 1?', remove: '0 1' },
  { why: 'the successor is bound next', given: '0:claimed', placeholders: '0', due: '0', remove: '0' },
  { why: 'the successor went meanwhile, and its binding is not over', kept: '0:active', placeholders: '0', due: '0', remove: '0' },
  { why: 'more is asked for it than is kept', kept: '0:claimed', placeholders: '0+', remove: '0' },
];
for (const { why, kept = '', given = '', placeholders = '', due = '', make = '', remove = '' } of plans)
  test(`what stands for room where ${why}`, () => {
    const names = (text: string): string[] => text.split(' ').filter((name) => name !== '');
    const room = (text: string): Reservation => {
      const [name = '', state = 'active'] = text.split(':');
      return { ...roomOf(member(`web-${name}`)), state: state === 'claimed' ? 'claimed' : 'active' };
    };
    const uid = (name: string): string => room(name).oldUid;
    const placeholder = (text: string): PlaceholderPod => {
      const of = room(text.replace(/[?+]/, ''));
      const info = made(text.endsWith('+') ? { ...of, heldPod: { ...of.heldPod, requests: { ...of.heldPod.requests, cpu: 2_000 } } } : of);
      const unknown = text.endsWith('?');
      return { key: placeholderKey(of), node: 'n1', oldUid: of.oldUid, uid: unknown ? '' : info.uid, info: unknown ? undefined : info };
    };
    const plan = planPlaceholders({
      kept: names(kept).map(room),
      given: names(given).map(room),
      placeholders: names(placeholders).map(placeholder),
      due: new Set(names(due).map(uid)),
      had: new Set(),
    });
    assert.deepEqual([plan.make.map(({ name }) => name), plan.remove.map(({ placeholder: { key } }) => key)], [names(make).map((name) => `web-${name}`), names(remove).map((name) => placeholderKey(room(name)))]); // prettier-ignore
  });

/** A room, and who is seen of the pods that stand for it. */
function stage() {
  const reservations = createReservations(config(), isOwnScheduler);
  const counted: string[] = [];
  const state = {
    countPod: ({ uid }: PodInfo) => void counted.push(`+${uid}`),
    ignorePod: (uid: string) => void counted.push(`-${uid}`),
    placed: () => undefined,
  };
  const seen = new SeenPlaceholders({ state, reservations, isOwnScheduler });
  const { reservation: room = assert.fail() } = reservations.podDeleted(deletion({ pod: member() }));
  return { reservations, seen, counted, room };
}

test('which pods count is decided when they are first seen', () => {
  const s = stage();
  const { room } = s;
  const called = (uid: string) => made(room, (pod) => (pod.metadata.uid = uid));
  const cpu = (amount: string) => (pod: Pod) => Object.assign(pod.spec?.containers[0] ?? {}, { resources: { requests: { cpu: amount } } });
  assert.equal(s.seen.ignores(made(room, cpu('2'))), false, 'it requests more than is reserved');
  assert.equal(s.seen.hasPlaceholderFor(room), false);
  const forged = made(room, ({ metadata }) => Object.assign(metadata, { uid: 'u2', name: 'forged' }));
  assert.equal(s.seen.ignores(forged), false, 'it has another name');
  assert.equal(s.seen.ignores(called('u3')), true);
  assert.equal(s.seen.hasPlaceholderFor(room), true);
  // Made by this process, and larger on the way; or seen when its room is used already.
  s.seen.expect(placeholderKey(room));
  assert.equal(s.seen.ignores(made(room, (pod) => ((pod.metadata.uid = 'u4'), cpu('2')(pod)))), true);
  s.seen.made(placeholderKey(room), 'u5');
  s.reservations.setChanged('uid-web', undefined);
  assert.equal(s.seen.ignores(called('u5')), true);
  assert.equal(s.seen.ignores(called('u6')), false, 'no room is kept');
  s.seen.count('u3');
  assert.deepEqual(s.counted, ['+u3']);
  assert.deepEqual([s.seen.deleted(called('u3')), s.seen.deleted(called('u5'))], [false, true]); // prettier-ignore
});
