import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLog } from '../../../../base/log.ts';
import { nodes } from '../../../../kube/api/object.ts';
import { compareWithKnown, next, type Saw, type Watch, watchObject } from '../../../../kube/client/watch-object.ts';
import { freshPace, pace, type Turn } from '../../../../kube/client/watch-loop.ts';
import { atRest, FakeClock } from '../../../support/fake-clock.ts';
import { ScriptedApi } from '../cache/scripted-api.ts';
import { table } from '../../../support/table.ts';
import type { KubeObject } from '../../../../kube/api/object.ts';

/** Versions of the object `n` that are seen, `absent`; and what is asked. */
async function watched(steps: string[], ms: number, more: { onSeen?: () => void; onFailure?: () => void; stop?: AbortController } = {}) {
  const { onSeen, onFailure, stop = new AbortController() } = more;
  const clock = new FakeClock();
  const api = new ScriptedApi(...steps);
  const seen: string[] = [];
  const failures: number[] = [];
  const handlers = {
    onSeen: ({ object }: { object: KubeObject | undefined }) => {
      onSeen?.();
      seen.push(object === undefined ? 'absent' : `${object.metadata.uid}@${object.metadata.resourceVersion}`);
    },
    onFailure: (_error: unknown, count: number) => {
      onFailure?.();
      failures.push(count);
    },
  };
  const watching = watchObject<KubeObject>(
    { client: api.client, clock, random: () => 0, log: silentLog },
    nodes,
    { name: 'n' },
    handlers,
    stop.signal,
  );
  await Promise.race([clock.advance(ms).then(atRest), watching]);
  stop.abort();
  await watching;
  assert.equal(clock.sleepers, 0);
  return { seen, failures, requests: api.requests };
}

const watches = table('why | steps | asks | sees')(`
  an object is seen when it is there, changes, goes, and comes back
    | list 5: / watch hold: ADDED n#a@6, MODIFIED n#a@7, DELETED n#a@8, ADDED n#b@9 | list, watch 5 | absent a@6 a@7 absent b@9
  after a cut the object is listed and told again: the server may have been restored, and would tell nothing
    | list 5: n#a@3 / watch break 503 / list 6: n#a@3 / watch hold / 1000 ms | list, watch 5, list, watch 6 | a@3 a@3
  410 lists again at once, and what did not change is no news
    | list 5: n#a@3 / watch break 410 / list 9: n#a@3 / watch hold: MODIFIED n#a@10 | list, watch 5, list, watch 9 | a@3 a@10
  a watch that ends goes on behind its last event or bookmark
    | list 5: n#a@3 / watch: MODIFIED n#a@6, BOOKMARK 9 / watch hold / 1000 ms | list, watch 5, watch 9 | a@3 a@6
  waits as long as the server asks for
    | fail 429 / list 5: / watch hold / 6999 ms | list |
`);
for (const { why, steps, asks, sees } of watches)
  test(`a watch of one object: ${why}`, async () => {
    const [script = '', ms = 0] = steps.split(/ \/ (\d+) ms$/);
    const { seen, requests } = await watched(script.split(' / '), Number(ms));
    const asked = requests.map((request) => request.replace(/ fieldSelector=metadata.name=n/, '').replace(' resourceVersion=', ' '));
    assert.equal(asked.join(', '), asks);
    assert.equal(seen.join(' '), sees);
    assert.ok(
      requests.every((request) => request.includes('fieldSelector=metadata.name=n')),
      requests.join(),
    );
  });

for (const [why, first, then] of [
  ['fails every list', [], ['fail 500']],
  ['ends every watch at once', ['list 5: n#a@3'], ['watch:']],
  ['says 410 to every watch', [], ['list 5: n#a@3', 'fail 410']],
] as const)
  test(`a server that ${why} is asked at most 80 times in ten minutes, and told of`, async () => {
    const again = Array.from({ length: 200 }, () => then).flat();
    const { requests, failures } = await watched([...first, ...again], 600_000);
    assert.ok(requests.length >= 15 && requests.length <= 80, `${requests.length} requests`);
    assert.ok(failures.length >= 10, `${failures.length} failures were told`);
  });

test('what a handler throws ends the watch, it is no failure of the server; an aborted signal ends it quietly', async () => {
  const mistake = (): never => {
    throw new Error('mistake');
  };
  await assert.rejects(watched(['list 5:'], 0, { onSeen: mistake }), /^Error: mistake$/);
  await assert.rejects(watched(['fail 500'], 0, { onFailure: mistake }), /^Error: mistake$/);
  const stop = new AbortController();
  const { requests } = await watched(['fail 500'], 0, { onFailure: () => stop.abort(), stop });
  assert.equal(requests.length, 1);
});

/** `listed 5`, `changed 6`, `expired`; `relisting`, `watching@5`. The others are steps of the watches above. */
const edges = table('from | saw | to | why')(`
  relisting             | failed     | relisting             | a failed list lists again
  watching@5            | changed    | watching@5            | an event without version moves nothing
  watching@5            | failed     | watching@5            | a failure keeps the version
  relisting after a cut | failed     | relisting after a cut | a list that fails after a cut lists again
  watching@5            | too-large  | relisting             | an event that is too large lists again
`);
for (const { why, from, saw, to } of edges) {
  const state = (text: string): Watch => {
    const [at, rv = ''] = text.split('@');
    if (at === 'watching') return { at, rv };
    return { at: 'relisting', ...(text === 'relisting' ? {} : { cut: true }) };
  };
  const [kind, rv] = saw.split(' ');
  test(`watch machine: ${why}`, () => assert.deepEqual(next(state(from), { kind, rv } as Saw), state(to)));
}

test('what is news: another version, another uid, gone, back; not the same again', () => {
  const object = (uid: string, rv?: string): KubeObject => ({ metadata: { uid, ...(rv === undefined ? {} : { resourceVersion: rv }) } });
  const a1 = { uid: 'a', rv: '1' };
  for (const [known, seen, news] of [
    ['unknown', undefined, true],
    ['absent', undefined, false],
    ['unknown', object('a', '1'), true],
    [a1, object('a', '1'), false],
    [a1, object('a', '2'), true],
    [a1, object('b', '1'), true],
    [a1, undefined, true],
    [{ uid: 'a', rv: undefined }, object('a'), true], // what has no version cannot be told apart
  ] as const)
    assert.equal(compareWithKnown(known, seen).changed, news, JSON.stringify([known, seen]));
});

test('waits double to 30 s, start again after success, follow Retry-After up to 5 minutes', () => {
  const waits = (turns: Turn[]) => {
    let state = freshPace;
    return turns.map((turn) => {
      const { pace: after, waitMs } = pace(state, turn, () => 0);
      state = after;
      return waitMs;
    });
  };
  const fail = (retryAfterMs?: number, lastedMs = 5): Turn => ({ kind: 'failed', lastedMs, retryAfterMs });
  const ended = (lastedMs: number): Turn => ({ kind: 'ended', lastedMs });
  const [event, listed, expired]: Turn[] = [{ kind: 'event' }, { kind: 'listed' }, { kind: 'expired' }];
  assert.ok(event && listed && expired);
  assert.deepEqual(waits(Array.from({ length: 8 }, () => fail())), [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
  assert.deepEqual(waits([fail(), fail(), event, fail(), listed, fail()]), [500, 1_000, 0, 500, 0, 500]);
  assert.deepEqual(waits([fail(), fail(undefined, 40_000)]), [500, 500], 'a watch that stood was a success');
  assert.deepEqual(waits([fail(7_000), fail(100), fail(1e9)]), [7_000, 1_000, 300_000]);
  assert.deepEqual(waits([ended(400_000), ended(3), ended(3)]), [0, 500, 1_000]);
  assert.deepEqual(waits([expired, listed, expired, listed, expired]), [0, 0, 500, 0, 1_000]);
  assert.deepEqual(waits([expired, listed, event, expired]), [0, 0, 0, 0]);
});
