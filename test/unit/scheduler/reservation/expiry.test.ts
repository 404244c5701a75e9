import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { Pod } from '../../../../scheduler/types.ts';
import type { Client } from '../../../../kube/client/client.ts';
import type { Dropped } from '../../../../scheduler/reservation/contract.ts';
import { ReservationExpiry } from '../../../../scheduler/reservation/hooks.ts';
import { createReservations } from '../../../../scheduler/reservation/reservations.ts';
import { node } from '../builders.ts';
import { config, info, isOurs, member, SECOND, T0, web } from './situations.ts';

/** Room that is kept for the successor of web-2, whose old pod is in the API as long as `isThere` says so. */
function keptRoom(isThere: () => boolean) {
  const reservations = createReservations(config(), isOurs);
  const gone = info(member('web-2', 'n1').labels({ 'controller-revision-hash': 'old' }).uid('old-web-2'));
  reservations.podDeleted({ pod: gone, unseen: false, set: web(), newestRevision: 'new', node: node('n1').build(), now: T0 });
  const [kept = assert.fail('nothing is kept')] = reservations.list();
  const dropped: Dropped[] = [];
  const asked: string[] = [];
  let now = T0;
  const get = (_: unknown, { name }: { name: string }): Promise<Pod> => {
    asked.push(name);
    return Promise.resolve(
      member(name, 'n1')
        .uid(isThere() ? 'old-web-2' : 'another')
        .build(),
    );
  };
  const client = { get } as unknown as Pick<Client, 'get'>;
  const expiry = new ReservationExpiry({ reservations, now: () => now, client }, (list) => dropped.push(...list));
  const tick = async (at: number): Promise<number | undefined> => {
    now = at;
    const next = expiry.tick(new AbortController().signal);
    await setImmediate();
    return next;
  };
  return { kept, reservations, dropped, asked, tick };
}

test('the API server is asked for the old pod shortly before room is given up, once, and room is kept on while it is there', async () => {
  const { kept, reservations, dropped, asked, tick } = keptRoom(() => true);
  const { expiresAt } = kept;
  assert.equal(await tick(T0), expiresAt - 5 * SECOND, 'the next look');
  assert.deepEqual(asked, []);
  await tick(expiresAt - 5 * SECOND);
  assert.deepEqual(asked, ['web-2']);
  const later = reservations.list()[0]?.expiresAt ?? 0;
  assert.ok(later > expiresAt, 'it is kept on');
  await tick(expiresAt + SECOND);
  assert.deepEqual([asked.length, dropped.length], [1, 0]);
  await tick(later - SECOND);
  assert.equal(asked.length, 2, 'asked again before the new end');
});
