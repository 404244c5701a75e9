import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { seededRandom } from '../../../../base/random.ts';
import { silentLog } from '../../../../base/log.ts';
import { nodes } from '../../../../kube/api/object.ts';
import { ApiError, TransportError } from '../../../../kube/client/errors.ts';
import { learn, next } from '../../../../kube/client/watch-machine.ts';
import { watchObject } from '../../../../kube/client/watch-object.ts';
import { freshPace, pace } from '../../../../kube/client/watch-pace.ts';
import { cut, expired, ModelServer } from './model-server.ts';
import type { Clock } from '../../../../base/clock.ts';
import type { KubeObject } from '../../../../kube/api/object.ts';
import type { WatchQuery } from '../../../../kube/client/client.ts';
import type { Saw, Watch } from '../../../../kube/client/watch-machine.ts';
import type { Turn } from '../../../../kube/client/watch-pace.ts';

/** A clock on which sleeping takes no time, and says how long it was. */
class QuickClock implements Clock {
  at = 0;
  slept: number[] = [];
  now = () => this.at;
  monotonic = () => this.at;
  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    this.slept.push(ms);
    await turns(1);
    signal?.throwIfAborted();
    this.at += ms;
  }
  after(ms: number, ring: () => void): () => void {
    const stop = new AbortController();
    this.sleep(ms, stop.signal).then(ring, () => {});
    return () => stop.abort();
  }
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
}

function start(server: ModelServer, more: { onFailure?: (error: unknown, failures: number) => void; onSeen?: () => void } = {}) {
  const clock = new QuickClock();
  const stop = new AbortController();
  const seen: (KubeObject | undefined)[] = [];
  const failures: number[] = [];
  const done = watchObject(
    { client: server.client, clock, random: seededRandom(1), log: silentLog },
    nodes,
    { name: 'n' },
    {
      onSeen({ object }) {
        more.onSeen?.();
        seen.push(object);
      },
      onFailure(error, count) {
        more.onFailure?.(error, count);
        failures.push(count);
      },
    },
    stop.signal,
  );
  const versions = () =>
    seen.map((object) => (object === undefined ? 'gone' : `${object.metadata.uid}@${object.metadata.resourceVersion}`));
  return { clock, stop, seen, versions, failures, done };
}

const edges: { why: string; from: Watch; saw: Saw; to: Watch }[] = [
  { why: 'a list starts the watch', from: { at: 'relisting' }, saw: { kind: 'listed', rv: '5' }, to: { at: 'watching', rv: '5' } },
  { why: 'a failed list lists again', from: { at: 'relisting' }, saw: { kind: 'failed' }, to: { at: 'relisting' } },
  {
    why: 'an event moves the version',
    from: { at: 'watching', rv: '5' },
    saw: { kind: 'changed', rv: '6' },
    to: { at: 'watching', rv: '6' },
  },
  {
    why: 'a bookmark moves the version',
    from: { at: 'watching', rv: '5' },
    saw: { kind: 'bookmark', rv: '9' },
    to: { at: 'watching', rv: '9' },
  },
  {
    why: 'an event without version moves nothing',
    from: { at: 'watching', rv: '5' },
    saw: { kind: 'changed', rv: undefined },
    to: { at: 'watching', rv: '5' },
  },
  { why: 'an end keeps the version', from: { at: 'watching', rv: '5' }, saw: { kind: 'closed' }, to: { at: 'watching', rv: '5' } },
  { why: 'a failure keeps the version', from: { at: 'watching', rv: '5' }, saw: { kind: 'failed' }, to: { at: 'watching', rv: '5' } },
  { why: '410 lists again', from: { at: 'watching', rv: '5' }, saw: { kind: 'expired' }, to: { at: 'relisting' } },
];
for (const { why, from, saw, to } of edges) test(`watch machine: ${why}`, () => assert.deepEqual(next(from, saw), to));

test('what is news: another version, another uid, gone, back; not the same again', () => {
  const object = (uid: string, rv?: string): KubeObject => ({ metadata: { uid, ...(rv === undefined ? {} : { resourceVersion: rv }) } });
  const news = (known: Parameters<typeof learn>[0], seen: KubeObject | undefined) => learn(known, seen).news;
  assert.deepEqual(
    [
      news('unknown', undefined),
      news('absent', undefined),
      news('unknown', object('a', '1')),
      news({ uid: 'a', rv: '1' }, object('a', '1')),
    ],
    [true, false, true, false],
  );
  assert.ok(
    news({ uid: 'a', rv: '1' }, object('a', '2')) &&
      news({ uid: 'a', rv: '1' }, object('b', '1')) &&
      news({ uid: 'a', rv: '1' }, undefined),
  );
  assert.ok(news({ uid: 'a', rv: undefined }, object('a')), 'what has no version cannot be told apart');
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
  assert.deepEqual(waits(Array.from({ length: 8 }, () => fail())), [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
  assert.deepEqual(waits([fail(), fail(), { kind: 'event' }, fail()]), [500, 1_000, 0, 500]);
  assert.deepEqual(waits([fail(), fail(), { kind: 'listed' }, fail()]), [500, 1_000, 0, 500]);
  assert.deepEqual(waits([fail(), fail(undefined, 40_000)]), [500, 500], 'a watch that stood was a success');
  assert.deepEqual(waits([fail(7_000), fail(100), fail(1e9)]), [7_000, 1_000, 300_000]);
  assert.deepEqual(
    waits([
      { kind: 'ended', lastedMs: 400_000 },
      { kind: 'ended', lastedMs: 3 },
      { kind: 'ended', lastedMs: 3 },
    ]),
    [0, 500, 1_000],
  );
  assert.deepEqual(
    waits([{ kind: 'expired' }, { kind: 'listed' }, { kind: 'expired' }, { kind: 'listed' }, { kind: 'expired' }]),
    [0, 0, 500, 0, 1_000],
  );
  assert.deepEqual(waits([{ kind: 'expired' }, { kind: 'listed' }, { kind: 'event' }, { kind: 'expired' }]), [0, 0, 0, 0]);
});

test('an object is seen when it is there, changes, goes, and comes back', async () => {
  const server = new ModelServer();
  const watch = start(server);
  await turns(3);
  server.put('n', 'a');
  await turns(3);
  server.put('n', 'a');
  server.duplicate();
  await turns(3);
  server.remove();
  await turns(3);
  server.put('n', 'b');
  await turns(3);
  assert.deepEqual(watch.versions(), ['gone', 'a@2', 'a@3', 'gone', 'b@5']);
  watch.stop.abort();
  await watch.done;
  assert.deepEqual(watch.clock.slept, []);
  const [list, first] = server.requests;
  assert.deepEqual(list, { verb: 'list', query: { fieldSelector: 'metadata.name=n' } });
  assert.equal(first?.verb, 'watch');
  const { timeoutSeconds = 0, ...query }: WatchQuery = first?.query ?? {};
  assert.deepEqual(query, { fieldSelector: 'metadata.name=n', resourceVersion: '1' });
  assert.ok(timeoutSeconds >= 300 && timeoutSeconds <= 600);
});

test('after a cut the watch goes on from the last version, bookmarks included', async () => {
  const server = new ModelServer();
  server.put('n', 'a');
  const watch = start(server);
  await turns(3);
  server.bookmark();
  await turns(2);
  server.disrupt(cut());
  await turns(5);
  assert.deepEqual(
    server.requests.map(({ verb, query }) => `${verb} ${query.resourceVersion ?? '-'}`),
    ['list -', 'watch 2', 'watch 3'],
  );
  assert.deepEqual(watch.failures, [1]);
  watch.stop.abort();
  await watch.done;
});

test('410 lists again at once, without calling it a failure', async () => {
  const server = new ModelServer();
  server.put('n', 'a');
  const watch = start(server);
  await turns(3);
  server.disrupt(expired());
  server.put('n', 'a');
  server.compact();
  await turns(5);
  assert.deepEqual(watch.versions(), ['a@2', 'a@3']);
  assert.deepEqual([watch.failures, watch.clock.slept], [[], []]);
  watch.stop.abort();
  await watch.done;
});

test('what a handler throws ends the watch, it is no failure of the server', async () => {
  const server = new ModelServer();
  const mistake = new Error('mistake');
  await assert.rejects(
    start(server, {
      onSeen() {
        throw mistake;
      },
    }).done,
    (error) => error === mistake,
  );
  server.failLists = [cut()];
  await assert.rejects(
    start(server, {
      onFailure() {
        throw mistake;
      },
    }).done,
    (error) => error === mistake,
  );
});

test('an aborted signal ends it quietly, before the start, while it waits, and while it watches', async () => {
  const server = new ModelServer();
  server.failLists = [cut()];
  const waiting = start(server, { onFailure: () => waiting.stop.abort() });
  await waiting.done;
  const watching = start(server);
  await turns(3);
  watching.stop.abort();
  await watching.done;
  const before = server.requests.length;
  await watchObject(
    { client: server.client, clock: new QuickClock(), random: () => 0, log: silentLog },
    nodes,
    { name: 'n' },
    { onSeen: () => assert.fail() },
    AbortSignal.abort(),
  );
  assert.equal(server.requests.length, before);
});

const stubborn: { why: string; make: (server: ModelServer) => void }[] = [
  { why: 'fails every list', make: (server) => (server.failLists = Array.from({ length: 10_000 }, cut)) },
  { why: 'fails every watch', make: (server) => (server.failWatches = Array.from({ length: 10_000 }, cut)) },
  { why: 'ends every watch at once', make: (server) => (server.failWatches = Array.from({ length: 10_000 }, () => 'end' as const)) },
  { why: 'says 410 to every watch', make: (server) => (server.failWatches = Array.from({ length: 10_000 }, expired)) },
  { why: 'says 410 to every list', make: (server) => (server.failLists = Array.from({ length: 10_000 }, expired)) },
];
for (const { why, make } of stubborn) {
  test(`a server that ${why} is asked at most 80 times in ten minutes, and told of`, async () => {
    const server = new ModelServer();
    make(server);
    const watch = start(server);
    while (watch.clock.at < 600_000) await turns(1);
    watch.stop.abort();
    await watch.done;
    assert.ok(server.requests.length <= 80, `${server.requests.length} requests`);
    assert.ok(server.requests.length >= 15, `${server.requests.length} requests`);
    assert.ok(watch.failures.length >= 10, `${watch.failures.length} failures were told`);
  });
}

test('Retry-After is followed', async () => {
  const server = new ModelServer();
  server.failLists = [
    new ApiError({ method: 'GET', path: '/', host: 'h' }, { code: 429, reason: 'TooManyRequests', message: '', retryAfterMs: 45_000 }),
  ];
  const watch = start(server);
  await turns(5);
  assert.deepEqual(watch.clock.slept, [45_000]);
  watch.stop.abort();
  await watch.done;
});

const commands = fc.array(
  fc.constantFrom(
    'put',
    'put',
    'recreate',
    'remove',
    'compact',
    'bookmark',
    'duplicate',
    'stranger',
    'cut',
    'end',
    'expire',
    'fail list',
    'fail watch',
    'settle',
    'settle',
  ),
  { maxLength: 40 },
);

test('whatever the server does, the watch ends with what the server holds, and tells each change once', async () => {
  await fc.assert(
    fc.asyncProperty(commands, async (script) => {
      const server = new ModelServer();
      const watch = start(server);
      let uid = 0;
      for (const command of script) {
        if (command === 'put') server.put('n', `u${uid}`);
        else if (command === 'recreate') {
          server.remove();
          server.put('n', `u${++uid}`);
        } else if (command === 'remove') server.remove();
        else if (command === 'compact') server.compact();
        else if (command === 'bookmark') server.bookmark();
        else if (command === 'duplicate') server.duplicate();
        else if (command === 'stranger') server.stranger();
        else if (command === 'cut') server.disrupt(cut());
        else if (command === 'end') server.disrupt('end');
        else if (command === 'expire') server.disrupt(expired());
        else if (command === 'fail list') server.failLists.push(cut());
        else if (command === 'fail watch') server.failWatches.push(cut(), expired());
        else await turns(2);
      }
      // Whatever is still planned to fail does so, then all is quiet.
      let quiet = 0;
      for (let asked = -1; quiet < 4; quiet = asked === server.requests.length ? quiet + 1 : 0) {
        asked = server.requests.length;
        await turns(3);
      }
      const held = server.object?.metadata;
      assert.equal(watch.versions().at(-1), held === undefined ? 'gone' : `${held.uid}@${held.resourceVersion}`);
      assert.ok(
        watch.versions().every((version, at, all) => at === 0 || version !== all[at - 1]),
        watch.versions().join(),
      );
      const numbers = watch.seen.flatMap((object) => (object === undefined ? [] : [Number(object.metadata.resourceVersion)]));
      assert.deepEqual(
        numbers,
        numbers.toSorted((a, b) => a - b),
        'never back in time',
      );
      watch.stop.abort();
      await watch.done;
    }),
    { numRuns: 400 },
  );
});

test('an event that is too large is not asked for again: the object is listed, and seen once it is smaller', async () => {
  const call = { method: 'GET', path: '/api/v1/nodes', host: 'h' };
  const asked: string[] = [];
  const stop = new AbortController();
  const ours = (resourceVersion: string): KubeObject => ({ metadata: { name: 'n', uid: 'u', resourceVersion } });
  const client = {
    list: () => {
      const rv = asked.length === 0 ? '1' : '3';
      asked.push('list');
      return Promise.resolve({ metadata: { resourceVersion: rv }, items: [ours(rv)] });
    },
    watch(_: unknown, { resourceVersion }: WatchQuery) {
      asked.push(`watch from ${resourceVersion}`);
      if (asked.length >= 4) stop.abort();
      throw new TransportError(call, 'too-large', { hint: 'it has too many values' });
    },
  };
  const seen: unknown[] = [];
  const deps = { client: client as never, clock: new QuickClock(), random: seededRandom(1), log: silentLog };
  await watchObject(deps, nodes, { name: 'n' }, { onSeen: ({ object }) => seen.push(object?.metadata.resourceVersion) }, stop.signal);
  assert.deepEqual(asked, ['list', 'watch from 1', 'list', 'watch from 3']);
  assert.deepEqual(seen, ['1', '3']);
});
