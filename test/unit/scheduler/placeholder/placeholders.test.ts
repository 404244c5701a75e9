import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SeenPlaceholders } from '../../../../scheduler/placeholder/hooks.ts';
import { placeholderKey, placeholderOf } from '../../../../scheduler/placeholder/plan.ts';
import { podInfoOf, type PodInfo } from '../../../../scheduler/pod/pod-info.ts';
import type { Reservation } from '../../../../scheduler/reservation/contract.ts';
import { createReservations } from '../../../../scheduler/reservation/reservations.ts';
import type { Pod } from '../../../../scheduler/types.ts';
import { config, deletion, isOurs, member } from '../reservation/situations.ts';

/** A room, and who is seen of the pods that stand for it. */
function stage() {
  const reservations = createReservations(config(), isOurs);
  const counted: string[] = [];
  const state = {
    countPod: ({ uid }: PodInfo) => void counted.push(`+${uid}`),
    ignorePod: (uid: string) => void counted.push(`-${uid}`),
    placed: () => undefined,
  };
  const seen = new SeenPlaceholders({ state, reservations, isOurs });
  const { reservation: room = assert.fail() } = reservations.podDeleted(deletion({ pod: member() }));
  return { reservations, seen, counted, room };
}

const made = (room: Reservation, change: (pod: Pod) => void = () => {}): PodInfo => {
  const pod = structuredClone(placeholderOf(room, 'pause:1', 60_000));
  pod.metadata.uid = 'uid-of-mirror';
  change(pod);
  return podInfoOf(pod);
};

test('which pods count is decided when they are first seen', () => {
  const s = stage();
  const { room } = s;
  const called = (uid: string) => made(room, (pod) => (pod.metadata.uid = uid));
  const cpu = (amount: string) => (pod: Pod) => Object.assign(pod.spec?.containers[0] ?? {}, { resources: { requests: { cpu: amount } } });
  assert.equal(s.seen.ignores(made(room, cpu('2'))), false, 'it requests more than is reserved');
  assert.equal(s.seen.standsFor(room), false);
  const forged = made(room, ({ metadata }) => Object.assign(metadata, { uid: 'u2', name: 'forged' }));
  assert.equal(s.seen.ignores(forged), false, 'it has another name');
  assert.equal(s.seen.ignores(called('u3')), true);
  assert.equal(s.seen.standsFor(room), true);
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

test('a pod that counted already does not any more once its room is known', () => {
  const { reservations, seen, counted, room } = stage();
  reservations.setChanged('uid-web', undefined);
  assert.equal(seen.ignores(made(room)), false);
  reservations.adopt(room);
  seen.adopted(room);
  assert.deepEqual([counted, seen.standsFor(room)], [['-uid-of-mirror'], true]);
});
