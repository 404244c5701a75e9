import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../../../base/random.ts';
import type { KubeObject } from '../../../../kube/api/object.ts';
import { ApiError } from '../../../../kube/client/errors.ts';
import { SeenPlaceholders } from '../../../../scheduler/placeholder/hooks.ts';
import { Placeholders } from '../../../../scheduler/placeholder/placeholders.ts';
import { podInfoOf, type PodInfo } from '../../../../scheduler/pod/pod-info.ts';
import type { Reservation } from '../../../../scheduler/reservation/contract.ts';
import { placeholderKey, placeholderOf } from '../../../../scheduler/placeholder/plan.ts';
import { createReservations } from '../../../../scheduler/reservation/reservations.ts';
import type { Pod } from '../../../../scheduler/types.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { recordedLog } from '../../../support/recorded-log.ts';
import { config, deletion, info, isOurs, member, successor } from '../reservation/situations.ts';

const ok = (): undefined => undefined;
const refuse = (code: number, reason: string) => (): ApiError =>
  new ApiError({ method: 'POST', path: '/pods', host: 'local' }, { code, reason, message: 'the test says so' });

/** Rooms, and a server that answers each call as it is told, and else does what it is asked. */
function stage() {
  const clock = new FakeClock();
  const reservations = createReservations(config(), isOurs);
  const counted: string[] = [];
  const cluster = {
    countPod: ({ uid }: PodInfo) => void counted.push(`+${uid}`),
    ignorePod: (uid: string) => void counted.push(`-${uid}`),
    placed: () => undefined,
  };
  const seen = new SeenPlaceholders({ state: cluster, reservations, isOurs });
  const calls: string[] = [];
  const answers: (() => Error | undefined)[] = [];
  const there = new Map<string, Pod>();
  const call = (what: string): void => {
    calls.push(what);
    const error = (answers.shift() ?? ok)();
    if (error !== undefined) throw error;
  };
  const client = {
    create: async (_: unknown, pod: Pod) => {
      call('create');
      const made = { ...structuredClone(pod), metadata: { ...pod.metadata, uid: `made-${calls.length}` } };
      Object.assign(made.spec?.containers[0]?.resources?.requests ?? {}, larger);
      there.set(`${pod.metadata.namespace}/${pod.metadata.name}`, made);
      return made;
    },
    delete: async (_: unknown, { namespace, name }: { namespace: string; name: string }) => {
      call('delete');
      there.delete(`${namespace}/${name}`);
    },
    get: async (_: unknown, { namespace, name }: { namespace: string; name: string }) => {
      call('get');
      const found = there.get(`${namespace}/${name}`);
      if (found === undefined) throw refuse(404, 'NotFound')();
      return found as KubeObject;
    },
    list: async () => ({ items: [...there.values()] }),
  };
  const larger: Record<string, string> = {};
  const unseen: string[] = [];
  const placeholders = new Placeholders({
    seen,
    reservations,
    cluster,
    client: client as unknown as ConstructorParameters<typeof Placeholders>[0]['client'],
    clock,
    random: seededRandom(1),
    log: recordedLog().log,
    meters: { made: () => {}, removed: () => {} },
    isOurs,
    image: 'pause:1',
    longestMs: 60_000,
    onUnseen: ({ name }) => unseen.push(name),
  });
  const over = new AbortController();
  const keep = (): Reservation => {
    const { reservation } = reservations.podDeleted(deletion({ pod: member(), now: clock.now() }));
    assert.ok(reservation !== undefined);
    placeholders.look();
    return reservation;
  };
  const server = { calls, answers, there, larger };
  return { clock, reservations, seen, placeholders, ...server, counted, unseen, keep, over, begin: () => placeholders.begin(over.signal) };
}

const made = (room: Reservation, change: (pod: Pod) => void = () => {}): PodInfo => {
  const pod = structuredClone(placeholderOf(room, 'pause:1', 60_000));
  pod.metadata.uid = 'uid-of-mirror';
  change(pod);
  return podInfoOf(pod);
};

const making: { why: string; answers: (() => Error | undefined)[]; calls: string[]; unseen: number }[] = [
  { why: 'is made', answers: [ok], calls: ['create'], unseen: 0 },
  { why: 'is forbidden: it is not asked for again', answers: [refuse(403, 'Forbidden')], calls: ['create'], unseen: 1 },
  { why: 'meets a server in trouble: it is asked for again', answers: [refuse(500, 'InternalError'), refuse(429, 'TooManyRequests')], calls: ['create', 'create', 'create'], unseen: 2 }, // prettier-ignore
  { why: 'has its name taken by somebody who is gone', answers: [refuse(409, 'AlreadyExists')], calls: ['create', 'get', 'create'], unseen: 0 }, // prettier-ignore
];
for (const { why, answers, calls, unseen } of making)
  test(`a pod that is to stand for room ${why}`, async () => {
    const s = stage();
    s.answers.push(...answers);
    s.begin();
    s.keep();
    await s.clock.advance(30_000);
    assert.deepEqual([s.calls, s.unseen.length], [calls, unseen]);
    s.over.abort();
  });

test('one that another process made is known, and is removed for the successor', async () => {
  const s = stage();
  const room = s.keep();
  const left = made(room);
  s.there.set(placeholderKey(room), left.pod);
  assert.equal(s.seen.ignores(left), true, 'it is not counted');
  s.begin();
  await s.clock.advance(10_000);
  assert.deepEqual(s.calls, []);
  const pod = info(successor());
  s.reservations.podSeen(pod, () => ({ node: undefined, spare: undefined }), s.clock.now());
  await s.placeholders.clear('n1', room, s.over.signal);
  assert.deepEqual([s.calls, s.there.size], [['delete'], 0]);
  s.over.abort();
});

test('one that was taken away by others is not made again, for as long as the room is kept', async () => {
  const s = stage();
  s.begin();
  const room = s.keep();
  await s.clock.advance(1);
  s.seen.deleted(made(room));
  s.there.clear();
  s.placeholders.look();
  await s.clock.advance(10_000);
  assert.deepEqual(s.calls, ['create']);
  s.over.abort();
});

test('one that others made larger on the way is removed, and not made again', async () => {
  const s = stage();
  s.begin();
  s.larger['cpu'] = '2';
  s.keep();
  await s.clock.advance(10_000);
  assert.deepEqual(s.calls, ['create', 'delete']);
  s.over.abort();
});

test('which pods count is decided when they are first seen', () => {
  const s = stage();
  const room = s.keep();
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
