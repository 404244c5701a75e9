import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import * as fc from 'fast-check';
import { parseFaults } from '../../../../apiserver/faults/fault.ts';
import { seededRandom } from '../../../../base/random.ts';
import { silentLog } from '../../../../base/log.ts';
import { nodes } from '../../../../kube/api/object.ts';
import { ApiError, TransportError } from '../../../../kube/client/errors.ts';
import { learn, next, type Saw, type Watch, type WatchDeps, watchObject } from '../../../../kube/client/watch-object.ts';
import { freshPace, pace, type Turn } from '../../../../kube/client/watch-loop.ts';
import { localApi, localClient } from '../../../support/embedded-api.ts';
import { atRest, FakeClock } from '../../../support/fake-clock.ts';
import type { KubeObject } from '../../../../kube/api/object.ts';
import type { WatchQuery } from '../../../../kube/client/client.ts';

interface Heard {
  onSeen?: () => void;
  onFailure?: () => void;
}

/** A watch of the Node n on the embedded server, on fake time. */
class Stage {
  readonly clock = new FakeClock();
  readonly api = localApi(this.clock, { bookmarkMs: 60_000 });
  readonly #inner = localClient(this.api, { clock: this.clock, random: () => 0 });
  /** `list`, `watch 5`. */
  readonly requests: string[] = [];
  readonly queries: WatchQuery[] = [];
  readonly seen: (KubeObject | undefined)[] = [];
  readonly failures: number[] = [];
  readonly stop = new AbortController();
  /** Instead of the server, where there is one. */
  over: Partial<WatchDeps['client']> = {};

  readonly client: WatchDeps['client'] = {
    list: (resource, query, options) => {
      this.requests.push('list');
      return this.#server('list').list(resource, query, options);
    },
    watch: (resource, query, signal) => {
      this.requests.push(`watch ${query.resourceVersion}`);
      this.queries.push(query);
      return this.#server('watch').watch(resource, query, signal);
    },
  };

  #server(verb: 'list' | 'watch'): WatchDeps['client'] {
    return this.over[verb] === undefined ? this.#inner : (this.over as WatchDeps['client']);
  }

  /** Watches until `stop`; resolves then. */
  watch({ onSeen, onFailure }: Heard = {}): Promise<void> {
    const deps = { client: this.client, clock: this.clock, random: seededRandom(1), log: silentLog };
    const handlers = {
      onSeen: ({ object }: { object: KubeObject | undefined }) => {
        onSeen?.();
        this.seen.push(object);
      },
      onFailure: (_error: unknown, count: number) => {
        onFailure?.();
        this.failures.push(count);
      },
    };
    return watchObject<KubeObject>(deps, nodes, { name: 'n' }, handlers, this.stop.signal);
  }

  async end(): Promise<void> {
    this.stop.abort();
    await this.#inner.close();
    this.api.stop();
  }

  /** @returns `uid@version` as it is now */
  put(uid: string): string {
    return written(this.api.hooks.storage.put('/nodes', 'n', { metadata: { name: 'n', uid } }));
  }

  remove(): void {
    this.api.hooks.storage.remove('/nodes', 'n');
  }

  set(...faults: object[]): void {
    this.api.hooks.setFaults(parseFaults(faults.map((fault) => ({ resource: 'nodes', ...fault }))));
  }

  get versions(): string[] {
    return this.seen.map(written);
  }
}

const written = (object: KubeObject | undefined): string =>
  object === undefined ? 'absent' : `${object.metadata.uid}@${object.metadata.resourceVersion}`;

/** One that watches until its test ends. */
async function started(t: TestContext, uid?: string): Promise<Stage> {
  const stage = new Stage();
  if (uid !== undefined) stage.put(uid);
  const watching = stage.watch();
  t.after(async () => {
    await stage.end();
    await watching;
    assert.equal(stage.clock.sleepers, 0);
  });
  await stage.clock.advance(0);
  await atRest();
  return stage;
}

/** `listed 5`, `changed 6`, `expired`; `relisting`, `watching@5`. */
const edges = [
  { why: 'a list starts the watch', from: 'relisting', saw: 'listed 5', to: 'watching@5' },
  { why: 'a failed list lists again', from: 'relisting', saw: 'failed', to: 'relisting' },
  { why: 'an event moves the version', from: 'watching@5', saw: 'changed 6', to: 'watching@6' },
  { why: 'a bookmark moves the version', from: 'watching@5', saw: 'bookmark 9', to: 'watching@9' },
  { why: 'an event without version moves nothing', from: 'watching@5', saw: 'changed', to: 'watching@5' },
  { why: 'an end keeps the version', from: 'watching@5', saw: 'closed', to: 'watching@5' },
  { why: 'a failure keeps the version', from: 'watching@5', saw: 'failed', to: 'watching@5' },
  { why: 'a cut lists again', from: 'watching@5', saw: 'cut', to: 'relisting after a cut' },
  { why: 'a list that fails after a cut lists again', from: 'relisting after a cut', saw: 'failed', to: 'relisting after a cut' },
  { why: '410 lists again', from: 'watching@5', saw: 'expired', to: 'relisting' },
];
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

test('an object is seen when it is there, changes, goes, and comes back', async (t) => {
  const stage = await started(t);
  const { version } = stage.api.hooks.storage;
  const expected = ['absent'];
  for (const uid of ['a', 'a', undefined, 'b']) {
    if (uid === undefined) stage.remove();
    expected.push(uid === undefined ? 'absent' : stage.put(uid));
    await atRest();
  }
  assert.deepEqual(stage.versions, expected);
  assert.deepEqual(stage.requests, ['list', `watch ${version}`]);
  const [{ timeoutSeconds = 0, ...query } = {}] = stage.queries;
  assert.deepEqual(query, { fieldSelector: 'metadata.name=n', resourceVersion: String(version) });
  assert.ok(timeoutSeconds >= 300 && timeoutSeconds <= 600);
});

test('after a cut the object is listed again: the server may have been restored to an earlier state, and would tell nothing', async (t) => {
  const stage = await started(t, 'a');
  const from = stage.requests.at(-1);
  stage.api.hooks.storage.put('/pods', 'default/p', { metadata: { name: 'p', namespace: 'default' } });
  await stage.clock.advance(60_000);
  stage.api.hooks.dropConnections();
  await stage.clock.advance(1_000);
  assert.deepEqual(stage.requests, ['list', from, 'list', `watch ${stage.api.hooks.storage.version}`]);
  assert.deepEqual(stage.failures, [1]);
  const [version] = stage.versions;
  assert.deepEqual(stage.versions, [version, version], 'it is told again: after a restore its version may stand for another content');
});

test('410 lists again at once, without calling it a failure', async (t) => {
  const stage = await started(t, 'a');
  stage.set({ verb: 'watch', fault: 'early-gone', count: 1 });
  const last = stage.put('a');
  await atRest();
  assert.deepEqual(stage.versions.slice(1), [last]);
  assert.deepEqual([stage.requests.filter((request) => request === 'list').length, stage.failures], [2, []]);
});

for (const throws of ['onSeen', 'onFailure'] as const)
  test(`what ${throws} throws ends the watch, it is no failure of the server`, async () => {
    const stage = new Stage();
    if (throws === 'onFailure') stage.set({ verb: 'list', status: 500 });
    const mistake = (): never => {
      throw new Error('mistake');
    };
    await assert.rejects(stage.watch({ [throws]: mistake }), /^Error: mistake$/);
    await stage.end();
  });

test('an aborted signal ends it quietly, before the start and while it waits', async () => {
  const stage = new Stage();
  stage.set({ verb: 'list', status: 500 });
  await stage.watch({ onFailure: () => stage.stop.abort() });
  assert.deepEqual(stage.requests, ['list']);
  await stage.watch({ onSeen: () => assert.fail() });
  assert.deepEqual([stage.requests, stage.clock.sleepers], [['list'], 0]);
  await stage.end();
});

const stubborn: { why: string; fault?: object; watch?: WatchDeps['client']['watch'] }[] = [
  { why: 'fails every list', fault: { verb: 'list', status: 500 } },
  { why: 'fails every watch', fault: { verb: 'watch', status: 'drop' } },
  { why: 'ends every watch at once', watch: async function* () {} },
  { why: 'says 410 to every watch', fault: { verb: 'watch', status: 'gone' } },
  { why: 'says 410 to every list', fault: { verb: 'list', status: 'gone' } },
];
for (const { why, fault, watch } of stubborn) {
  test(`a server that ${why} is asked at most 80 times in ten minutes, and told of`, async (t) => {
    const stage = new Stage();
    if (fault !== undefined) stage.set(fault);
    if (watch !== undefined) stage.over = { watch };
    const watching = stage.watch();
    t.after(() => watching);
    await stage.clock.advance(600_000);
    await stage.end();
    assert.ok(stage.requests.length >= 15 && stage.requests.length <= 80, `${stage.requests.length} requests`);
    assert.ok(stage.failures.length >= 10, `${stage.failures.length} failures were told`);
  });
}

test('Retry-After is followed', async (t) => {
  const stage = new Stage();
  const call = { method: 'GET', path: '/', host: 'h' };
  const busy = new ApiError(call, { code: 429, reason: 'TooManyRequests', message: '', retryAfterMs: 45_000 });
  stage.over = { list: () => Promise.reject(busy) };
  const watching = stage.watch();
  t.after(() => watching);
  await stage.clock.advance(44_999);
  assert.equal(stage.requests.length, 1);
  await stage.clock.advance(1);
  assert.equal(stage.requests.length, 2);
  await stage.end();
});

const acts = 'put put recreate remove compact other drop restart early-gone duplicate list watch settle settle'.split(' ');
const commands = fc.array(fc.constantFrom(...acts), { maxLength: 40 });

test('whatever the server does, the watch ends with what the server holds, and tells each change once, and again at most by a list after a cut', async () => {
  await fc.assert(
    fc.asyncProperty(commands, async (script) => {
      const stage = new Stage();
      const { hooks } = stage.api;
      const watching = stage.watch();
      let uid = 0;
      for (const command of script) {
        if (command === 'put') stage.put(`u${uid}`);
        else if (command === 'recreate') {
          stage.remove();
          stage.put(`u${++uid}`);
        } else if (command === 'remove') stage.remove();
        else if (command === 'compact') hooks.compact();
        else if (command === 'other') hooks.storage.put('/nodes', 'other', { metadata: { name: 'other', uid: 'o' } });
        else if (command === 'drop') hooks.dropConnections();
        else if (command === 'restart') {
          await hooks.pause();
          await stage.clock.advance(100);
          await hooks.resume();
        } else if (command === 'early-gone' || command === 'duplicate') stage.set({ verb: 'watch', fault: command, count: 1 });
        else if (command === 'list' || command === 'watch') stage.set({ verb: command, status: 500, count: 2 });
        else await stage.clock.advance(700);
      }
      await stage.clock.advance(120_000);
      assert.equal(stage.versions.at(-1), written(hooks.storage.get('/nodes', 'n')));
      const repeats = stage.versions.filter((version, at, all) => at > 0 && version === all[at - 1]).length;
      const lists = stage.requests.filter((request) => request === 'list').length;
      assert.ok(repeats < lists && (repeats === 0 || script.includes('drop') || script.includes('restart')), stage.versions.join());
      const numbers = stage.seen.flatMap((object) => (object === undefined ? [] : [Number(object.metadata.resourceVersion)]));
      assert.deepEqual(
        numbers,
        numbers.toSorted((a, b) => a - b),
        'never back in time',
      );
      await stage.end();
      await watching;
    }),
    { numRuns: 100 },
  );
});

test('an event that is too large is not asked for again: the object is listed, and seen once it is smaller', async () => {
  const stage = new Stage();
  const ours = (resourceVersion: string): KubeObject => ({ metadata: { name: 'n', uid: 'u', resourceVersion } });
  stage.over = {
    list: (async () => {
      const rv = stage.requests.length === 1 ? '1' : '3';
      return { metadata: { resourceVersion: rv }, items: [ours(rv)] };
    }) as never,
    watch: () => {
      if (stage.requests.length >= 4) stage.stop.abort();
      throw new TransportError({ method: 'GET', path: '/api/v1/nodes', host: 'h' }, 'too-large', { hint: 'it has too many values' });
    },
  };
  const watching = stage.watch();
  await stage.clock.advance(10_000);
  await watching;
  await stage.end();
  assert.deepEqual(
    [stage.requests, stage.versions],
    [
      ['list', 'watch 1', 'list', 'watch 3'],
      ['u@1', 'u@3'],
    ],
  );
});
