import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  createdEvent,
  endedEvent,
  ownerReference,
  placedEvent,
  unseenEvent,
  reservationViews,
} from '../../../../scheduler/reservation/reporting.ts';
import { newestRevision } from '../../../../scheduler/reservation/decide.ts';
import type { ControllerRevision } from '../../../../scheduler/types.ts';
import { createReservations } from '../../../../scheduler/reservation/reservations.ts';
import { podInfoOf } from '../../../../scheduler/pod/pod-info.ts';
import type { Reservation } from '../../../../scheduler/reservation/contract.ts';
import { pod } from '../builders.ts';
import { config, deletion, isOurs, member } from './situations.ts';

const kept = createReservations(config(), isOurs);
const room = kept.podDeleted(deletion({ pod: member().port(80).asks('example.com/gpu', '2').memory('1Gi') })).reservation;
assert.ok(room !== undefined);

test('what users read of kept room', () => {
  assert.deepEqual(createdEvent(room), { type: 'Normal', reason: 'ReservationCreated', message: 'Room of pod default/web-2 on node n1 is kept until 2026-03-01T00:01:00Z' }); // prettier-ignore
  assert.deepEqual(placedEvent(room, 'n1'), { type: 'Normal', reason: 'ReservationUsed', message: 'Placed in the room kept on node n1' });
  assert.deepEqual(placedEvent(room, 'n2'), { type: 'Normal', reason: 'ReservationMissed', message: 'Placed on node n2 instead of the room kept on node n1' }); // prettier-ignore
  const ended = { reservation: room, why: 'no successor was created in time' };
  assert.deepEqual(endedEvent({ ...ended, result: 'expired' }), { type: 'Warning', reason: 'ReservationExpired', message: 'Room of pod default/web-2 on node n1 is given up: no successor was created in time' }); // prettier-ignore
  assert.equal(endedEvent({ ...ended, result: 'dropped' }).type, 'Normal');
  assert.deepEqual(unseenEvent(room, 'exceeded quota'), { type: 'Warning', reason: 'ReservationNotMirrored', message: 'Room of pod default/web-2 on node n1 is not shown to other schedulers: exceeded quota' }); // prettier-ignore
  assert.deepEqual(ownerReference(room), { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', namespace: 'default', uid: 'uid-web', resourceVersion: '', fieldPath: '' }); // prettier-ignore
});

test('the newest revision is what its pods carry: a name, or a hash', () => {
  const revision = (name: string, number: number, uid = 'uid-web'): ControllerRevision => ({ metadata: { name, labels: { 'controller-revision-hash': `hash-of-${name}` }, ownerReferences: [{ apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid, controller: true }] },
    revision: number,
  }); // prettier-ignore
  const revisions = [revision('web-b', 9), revision('web-a', 10), revision('web-c', 99, 'uid-other')];
  assert.equal(newestRevision(revisions, { kind: 'StatefulSet', uid: 'uid-web' }), 'web-a');
  assert.equal(newestRevision(revisions, { kind: 'DaemonSet', uid: 'uid-web' }), 'hash-of-web-a');
  assert.equal(newestRevision([], { kind: 'StatefulSet', uid: 'uid-web' }), undefined);
});

const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db', uid: 'uid-db', controller: true };
const infoOf = (name: string) => podInfoOf(pod(`shop/${name}`).cpu('500m').memory('1Ki').asks('example.com/gpu', '2').build());
const listed = (over: Partial<Reservation>): Reservation => ({
  namespace: 'shop',
  name: 'db-1',
  owner,
  oldUid: 'old',
  node: 'node-a',
  priority: 7,
  heldPod: infoOf('db-1'),
  createdAt: 0,
  expiresAt: 60_000,
  purpose: 'upgrade',
  why: 'db rolls',
  state: 'active',
  claimant: undefined,
  failedAt: undefined,
  ...over,
});

test('kept room is listed with all that a person asks for, and no raw record', () => {
  assert.deepEqual(reservationViews([listed({})]), [
    {
      namespace: 'shop',
      name: 'db-1',
      node: 'node-a',
      owner: 'StatefulSet/db',
      priority: 7,
      state: 'active',
      purpose: 'upgrade',
      why: 'db rolls',
      requests: { cpu: '500m', memory: '1024', 'example.com/gpu': '2' },
      claimedBy: null,
      createdAt: '1970-01-01T00:00:00.000Z',
      expiresAt: '1970-01-01T00:01:00.000Z',
    },
  ]);
});
