import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podInfoOf } from '../../../../scheduler/pod/pod-info.ts';
import { reservationViews } from '../../../../scheduler/reservation/reporting.ts';
import { pod } from '../builders.ts';
import type { Reservation } from '../../../../scheduler/reservation/contract.ts';

const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db', uid: 'uid-db', controller: true };
const info = (name: string) => podInfoOf(pod(`shop/${name}`).cpu('500m').memory('1Ki').asks('example.com/gpu', '2').build());
const room = (over: Partial<Reservation>): Reservation => ({
  namespace: 'shop',
  name: 'db-1',
  owner,
  oldUid: 'old',
  node: 'node-a',
  priority: 7,
  heldPod: info('db-1'),
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
  assert.deepEqual(reservationViews([room({})]), [
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

test('a successor that waits is named, and nothing that is asked for in vain', () => {
  const heldPod = podInfoOf(pod('shop/db-1').build());
  const [listed] = reservationViews([room({ state: 'claimed', claimant: info('db-1'), heldPod })]);
  assert.deepEqual([listed?.claimedBy, listed?.requests], ['uid-shop-db-1', {}]);
});

test('rooms are listed by pod, then by node', () => {
  const rooms = [room({ name: 'db-2' }), room({ node: 'node-b' }), room({ namespace: 'a', name: 'z' }), room({})];
  const names = reservationViews(rooms).map(({ namespace, name, node }) => `${namespace}/${name} ${node}`);
  assert.deepEqual(names, ['a/z node-a', 'shop/db-1 node-a', 'shop/db-1 node-b', 'shop/db-2 node-a']);
});
