import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Reservation, Reservations } from '../../../../scheduler/reservation/contract.ts';
import { createReservations } from '../../../../scheduler/reservation/reservations.ts';
import { pod, type PodBuilder } from '../builders.ts';
import { agent, config, daemon, deletion, info, isOurs, member, successor, T0, withOwner } from './situations.ts';

function keeping(over: Parameters<typeof deletion>[0] = {}): { kept: Reservations; room: Reservation } {
  const kept = createReservations(config({ daemonSets: true }), isOurs);
  const { reservation, decision } = kept.podDeleted(deletion(over));
  assert.ok(reservation !== undefined, decision.why);
  return { kept, room: reservation };
}

const cases: { why: string; who: PodBuilder; has: boolean }[] = [
  { why: 'the next one of the name', who: successor(), has: true },
  { why: 'the pod itself, told of late', who: successor('web-2', '1', 'uid-default-web-2'), has: false },
  { why: 'one of the name with another owner', who: withOwner(successor(), { uid: 'uid-web-anew' }), has: false },
];
for (const { why, who, has } of cases)
  test(`room is ${has ? '' : 'not '}for ${why}`, () => {
    const { kept, room } = keeping();
    assert.equal(kept.of(info(who)), has ? room : undefined);
    assert.equal(kept.isVisibleTo(room, info(who)), !has);
    assert.deepEqual(kept.podsFor(info(who), 'n1'), has ? [] : [room.heldPod]);
    assert.deepEqual(kept.podsFor(info(who), 'n2'), []);
  });

test('of each resource the successor keeps what it takes, and of more what is free; its heldPod stays the same pod', () => {
  const { kept, room } = keeping({ pod: member().memory('2Gi').asks('example.com/gpu', '2').asks('example.com/disk', '1').asks('ephemeral-storage', '1Gi') }); // prettier-ignore
  const next = successor('web-2', '3').memory('1Gi').asks('example.com/gpu', '4').asks('example.com/nic', '3').asks('ephemeral-storage', '1Gi').port(81); // prettier-ignore
  const spare = { cpu: 500, memory: 0, ephemeral: -5, scalars: new Map([['example.com/gpu', 1]]) };
  const { reservation } = kept.podSeen(info(next), () => ({ node: deletion().node, spare }), T0);
  assert.ok(reservation !== undefined);
  const { requests, uid, ports } = reservation.heldPod;
  assert.equal(uid, room.heldPod.uid);
  assert.deepEqual(ports.map(({ port }) => port), [81]); // prettier-ignore
  assert.deepEqual([requests.cpu, requests.memory, requests.ephemeral], [1_500, 2 ** 30, 2 ** 30]);
  assert.deepEqual([...requests.scalars], [['example.com/gpu', 3]]);
  assert.deepEqual([requests.scoredCpu, requests.scoredMemory], [1_500, 2 ** 30]);
});

test('others are told of less when there is less, and not of every new revision', () => {
  const on = { node: deletion().node, spare: undefined };
  const eased = (before: PodBuilder, after: PodBuilder): boolean => keeping({ pod: before }).kept.podSeen(info(after), () => on, T0).eased !== undefined; // prettier-ignore
  const volumes = (name: string): object => ({ volumes: [{ name, projected: { sources: [] } }] });
  assert.equal(eased(member().spec(volumes('token-a')), successor().spec(volumes('token-b'))), false);
  assert.equal(eased(member(), successor('web-2', '2')), false);
  assert.equal(eased(member(), successor('web-2', '0.9')), true);
  assert.equal(eased(member().memory('1Gi'), successor()), true);
  assert.equal(eased(member().asks('example.com/gpu', '1'), successor()), true);
  assert.equal(eased(member().priority(1), successor()), true);
  assert.equal(eased(member(), successor().priority(1)), false);
  assert.equal(eased(member().port(80), successor()), true);
  assert.equal(eased(member(), successor().labels({ app: 'other' })), true);
});

test('claims of what went are used for all but its successor', () => {
  const volumes = [
    { name: 'data', persistentVolumeClaim: { claimName: 'data-web-2' } },
    { name: 'tmp', ephemeral: {} },
  ];
  const { kept, room } = keeping({ pod: member().spec({ volumes }) });
  const users = (who: PodBuilder, claim: string): unknown => kept.claimUsers(info(who), claim);
  const heldPod = [{ pod: room.heldPod, node: 'n1' }];
  assert.deepEqual(users(successor('web-1'), 'data-web-2'), heldPod);
  assert.deepEqual(users(successor('web-1'), 'web-2-tmp'), heldPod);
  assert.deepEqual(users(successor(), 'data-web-2'), []);
  assert.deepEqual(users(successor('web-1'), 'data-web-1'), []);
  assert.deepEqual(users(pod('other/web-1'), 'data-web-2'), []);
  assert.deepEqual(users(pod('vip').priority(1), 'data-web-2'), []);
});

test('of a DaemonSet the successor is known by its node', () => {
  const { kept, room } = keeping({ pod: daemon('agent-x', 'n1'), set: undefined, daemonSet: agent() });
  const waiting = (name: string, on: string): PodBuilder => daemon(name, on).on('').labels({ 'controller-revision-hash': 'new' });
  assert.equal(kept.of(info(waiting('agent-y', 'n1'))), room);
  assert.equal(kept.of(info(waiting('agent-z', 'n2'))), undefined);
  assert.equal(kept.isVisibleTo(room, info(waiting('agent-z', 'n2'))), true);
  assert.equal(kept.of(info(withOwner(waiting('agent-z', 'n1'), { uid: 'uid-other' }))), undefined);
  assert.equal(kept.podPlaced(info(daemon('agent-z', 'n2'))).length, 0);
  assert.match(kept.podPlaced(info(daemon('agent-y', 'n1')))[0]?.why ?? '', /agent-y is on node n1/);
  assert.equal(kept.size, 0);
  kept.podDeleted(deletion({ pod: daemon('agent-y', 'n1'), set: undefined, daemonSet: agent() }));
  assert.match(kept.setChanged('uid-agent', undefined)[0]?.why ?? '', /DaemonSet agent was deleted/);
});
