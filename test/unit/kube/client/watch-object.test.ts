import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { parseFaults } from '../../../../apiserver/faults/fault.ts';
import { seededRandom } from '../../../../base/random.ts';
import { silentLog } from '../../../../base/log.ts';
import { nodes } from '../../../../kube/api/object.ts';
import { learn, next, type Saw, type Watch, type WatchDeps, watchObject } from '../../../../kube/client/watch-object.ts';
import { freshPace, pace, type Turn } from '../../../../kube/client/watch-loop.ts';
import { localApi, localClient } from '../../../support/embedded-api.ts';
import { atRest, FakeClock } from '../../../support/fake-clock.ts';
import { table } from '../../../support/table.ts';
import type { KubeObject } from '../../../../kube/api/object.ts';
import type { WatchQuery } from '../../../../kube/client/client.ts';

/** A watch of the Node n on the embedded server, on fake time. */
class Stage {
  readonly clock = new FakeClock();
  readonly api = localApi(this.clock, { bookmarkMs: 60_000 });
  readonly #inner = localClient(this.api, { clock: this.clock, random: () => 0 });
  /** `list`, `watch 5`. */
  readonly requests: string[] = [];
  query: WatchQuery = {};
  readonly seen: (KubeObject | undefined)[] = [];
  readonly failures: number[] = [];
  readonly stop = new AbortController();
  /** Instead of the server, where there is one. */
  over: Partial<WatchDeps['client']> = {};

  readonly client: WatchDeps['client'] = {
    list: (resource, query, options) => {
      this.requests.push('list');
      return (this.over.list ?? this.#inner.list.bind(this.#inner))(resource, query, options) as never;
    },
    watch: (resource, query, signal) => {
      this.requests.push(`watch ${query.resourceVersion}`);
      this.query = query;
      return (this.over.watch ?? this.#inner.watch.bind(this.#inner))(resource, query, signal) as never;
    },
  };

  /** Watches until `stop`; resolves then. */
  watch({ onSeen, onFailure }: { onSeen?: () => void; onFailure?: () => void } = {}): Promise<void> {
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
const edges = table('from | saw | to | why')(`
  relisting             | listed 5   | watching@5            | a list starts the watch
  relisting             | failed     | relisting             | a failed list lists again
  watching@5            | changed 6  | watching@6            | an event moves the version
  watching@5            | bookmark 9 | watching@9            | a bookmark moves the version
  watching@5            | changed    | watching@5            | an event without version moves nothing
  watching@5            | closed     | watching@5            | an end keeps the version
  watching@5            | failed     | watching@5            | a failure keeps the version
  watching@5            | cut        | relisting after a cut | a cut lists again
  relisting after a cut | failed     | relisting after a cut | a list that fails after a cut lists again
  watching@5            | expired    | relisting             | 410 lists again
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
    assert.equal(learn(known, seen).news, news, JSON.stringify([known, seen]));
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
  const { timeoutSeconds = 0, ...query } = stage.query;
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

test('what a handler throws ends the watch, it is no failure of the server', async () => {
  for (const throws of ['onSeen', 'onFailure']) {
    const stage = new Stage();
    if (throws === 'onFailure') stage.set({ verb: 'list', status: 500 });
    const mistake = (): never => {
      throw new Error('mistake');
    };
    await assert.rejects(stage.watch({ [throws]: mistake }), /^Error: mistake$/);
    await stage.end();
  }
});

test('an aborted signal ends it quietly while it waits', async () => {
  const stage = new Stage();
  stage.set({ verb: 'list', status: 500 });
  await stage.watch({ onFailure: () => stage.stop.abort() });
  assert.deepEqual([stage.requests, stage.clock.sleepers], [['list'], 0]);
  await stage.end();
});

const stubborn: { why: string; fault?: object; watch?: WatchDeps['client']['watch'] }[] = [
  { why: 'fails every list', fault: { verb: 'list', status: 500 } },
  { why: 'ends every watch at once', watch: async function* () {} },
  { why: 'says 410 to every watch', fault: { verb: 'watch', status: 'gone' } },
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
