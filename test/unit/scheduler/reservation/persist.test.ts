import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Client } from '../../../../kube/client/client.ts';
import { ReservationAnnotations } from '../../../../scheduler/reservation/on-sets.ts';
import { decodeReservations, encodeReservations, entryFor, RESERVATIONS_ANNOTATION, restoredFrom, type SavedReservation, type RestoreFacts } from '../../../../scheduler/reservation/persist.ts'; // prettier-ignore
import type { StatefulSet } from '../../../../scheduler/types.ts';
import { node } from '../builders.ts';
import { info, isOwnScheduler, member, SECOND, T0, web } from './situations.ts';

const until = '2026-03-01T00:01:00.000Z';
const entry = (name = 'web-2', over: object = {}): SavedReservation => ({ name, node: 'n1', uid: `uid-${name}`, until, ...over });
const annotated = (text: string, over: Parameters<typeof web>[0] = {}): StatefulSet => web({ ...over, metadata: { annotations: { [RESERVATIONS_ANNOTATION]: text } } }); // prettier-ignore
const facts = (set: StatefulSet, over: Partial<RestoreFacts> = {}): RestoreFacts => ({
  set,
  isPlaced: () => false,
  node: (name) => node(name).build(),
  priority: undefined,
  isOwnScheduler,
  longestMs: 600 * SECOND,
  now: T0,
  ...over,
});

test('a saved reservation expires some time after the end of the grace period', () => {
  const gone = (at: string): SavedReservation => entryFor(info(member().terminating(at)), 60 * SECOND, T0);
  assert.deepEqual(gone('2026-03-01T00:00:30Z'), entry('web-2', { uid: 'uid-default-web-2', until: '2026-03-01T00:01:30.000Z' }));
  assert.equal(gone('2025-01-01T00:00:00Z').until, until, 'its time was over long ago');
  assert.equal(gone('nonsense').until, until);
});

test('beyond the limits the oldest saved reservations are left out', () => {
  const many = Array.from({ length: 900 }, (_, at) => entry(`web-${at}`));
  const { entries, refused } = decodeReservations(encodeReservations(many) ?? '');
  assert.deepEqual([refused, entries.length, entries.at(-1)?.name], [[], 500, 'web-899']);
  const long = Array.from({ length: 400 }, (_, at) => entry(`${'a.'.repeat(120)}${at}`, { uid: 'x' }));
  const read = decodeReservations(encodeReservations(long) ?? '');
  assert.deepEqual([read.refused, read.entries.at(-1)?.name], [[], long.at(-1)?.name]);
});

const hostile: { why: string; text: string; says: RegExp }[] = [
  { why: 'it is no JSON', text: '[{', says: /not JSON/ },
  { why: 'it is no list', text: '{"name":"web-2"}', says: /not a list/ },
  { why: 'it is endless', text: ' '.repeat(70_000), says: /longer/ },
  { why: 'the node is no name', text: JSON.stringify([entry('web-2', { node: 'N 1' })]), says: /node is not a node name/ },
  { why: 'the time is a number', text: JSON.stringify([entry('web-2', { until: 1e18 })]), says: /until/ },
  { why: 'a name comes twice', text: JSON.stringify([entry(), entry('web-2', { node: 'n2' })]), says: /second one for web-2/ },
];
for (const { why, text, says } of hostile)
  test(`a saved reservation is rejected when ${why}`, () => {
    const { reservations, refused } = restoredFrom(facts(annotated(text)));
    assert.match(refused.join('; '), says);
    assert.equal(reservations.length, why === 'a name comes twice' ? 1 : 0);
  });

const stale: { why: string; set?: Parameters<typeof web>[0]; over?: Partial<RestoreFacts>; says: RegExp }[] = [
  { why: 'its time is over', over: { now: Date.parse(until) }, says: /expired at/ },
  { why: 'the node is gone', over: { node: () => undefined }, says: /n1 was deleted/ },
];
for (const { why, set, over, says } of stale)
  test(`a saved reservation is not restored when ${why}`, () => {
    const { reservations, refused } = restoredFrom(facts(annotated(JSON.stringify([entry()]), set), over));
    assert.deepEqual(reservations, []);
    assert.match(refused.join('; '), says);
  });

test('a restored reservation has the requests of the template, and the claims of its ordinal', () => {
  const containers = [{ name: 'main', resources: { requests: { cpu: '2' } } }];
  const template = { metadata: { labels: { app: 'web' } }, spec: { containers, volumes: [{ name: 'data', emptyDir: {} }] } };
  const spec = { template, volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: {} }] };
  const { reservations, refused } = restoredFrom(facts(annotated(JSON.stringify([entry()]), { spec }), { priority: 7 }));
  assert.deepEqual(refused, []);
  const [reservation] = reservations;
  assert.deepEqual([reservation?.name, reservation?.node, reservation?.oldUid, reservation?.priority], ['web-2', 'n1', 'uid-web-2', 7]);
  assert.deepEqual([reservation?.expiresAt, reservation?.heldPod.requests.cpu], [Date.parse(until), 2_000]);
  assert.deepEqual(reservation?.heldPod.pod.spec?.volumes, [{ name: 'data', persistentVolumeClaim: { claimName: 'data-web-2' } }]);
});

test('changes during a write are written together after it, failures are reported, and nothing is written twice', async () => {
  const written: string[] = [];
  const failures: string[] = [];
  const waiting: ((error?: Error) => void)[] = [];
  const patch = (_: unknown, __: unknown, { metadata }: { metadata: { annotations: Record<string, string | null> } }): Promise<void> => {
    const { entries } = decodeReservations(metadata.annotations[RESERVATIONS_ANNOTATION] ?? undefined);
    written.push(entries.map(({ name }) => name).join(' '));
    return new Promise((resolve, reject) => waiting.push((error) => (error === undefined ? resolve() : reject(error))));
  };
  const client = { patch } as unknown as Pick<Client, 'patch'>;
  const annotations = new ReservationAnnotations(client, (set) => failures.push(set), new AbortController().signal);
  const answer = async (error?: Error): Promise<void> => {
    waiting.shift()?.(error);
    await new Promise(setImmediate);
  };
  annotations.known(web(), [entry('web-0')]);
  for (const name of ['web-2', 'web-1', 'web-1']) annotations.arm(web(), entry(name));
  annotations.end('uid-web', 'web-2');
  await answer();
  assert.deepEqual(written.splice(0), ['web-0 web-2', 'web-0 web-1']);
  await answer(new Error('500'));
  assert.deepEqual(failures, ['default/web']);
  for (const name of ['web-1', 'web-0', 'web-0']) {
    annotations.end('uid-web', name);
    await answer();
  }
  await annotations.settled();
  assert.deepEqual(written, ['web-0', '']);
});
