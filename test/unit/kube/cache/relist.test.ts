import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type KubeObject, pods } from '../../../../kube/api/object.ts';
import { noReflectorMetrics } from '../../../../kube/cache/failure-log.ts';
import { FakeClock, atRest } from '../../../support/fake-clock.ts';
import { recordedLog } from '../../../support/recorded-log.ts';
import { begin, diary, runs } from './informer-world.ts';
import { event, object, ScriptedApi, written } from './scripted-api.ts';
import type { WatchEvent, WatchQuery } from '../../../../kube/client/client.ts';
import { Reflector, type ReflectorOptions, type Sink } from '../../../../kube/cache/reflector.ts';

/** `p0#1@3 p1#1@3 ...`. */
const many = (count: number, uid: number, version: number): string =>
  Array.from({ length: count }, (_, n) => `p${n}#${uid}@${version}`).join(' ');

const turns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
};

describe('while a list is applied', () => {
  test('a relist shows all of it or nothing of it, and its version with it', async (t) => {
    const api = new ScriptedApi(`list 5: ${many(2_000, 1, 3)}`, 'fail 410', `list 9: ${many(1_000, 2, 8)}`, 'watch hold');
    const { informer } = begin(api);
    runs(t, informer);
    const seen = new Set<string>();
    for (let turn = 0; turn < 100 && informer.version !== '9'; turn++) {
      await turns(1);
      const uids = new Set(informer.list().map(({ metadata }) => metadata.uid));
      if (informer.synced) seen.add(`${informer.size} of uid ${[...uids].join(' and ')} at ${informer.version}`);
    }
    assert.deepEqual([...seen], ['2000 of uid 1 at 5', '1000 of uid 2 at 9']);
  });

  test('more changes than fit in a turn are told in several, and the version comes last', async (t) => {
    const api = new ScriptedApi(`list 5: ${many(6_000, 1, 3)}`, 'fail 410', `list 9: ${many(6_000, 1, 8)}`, 'watch hold');
    const { informer } = begin(api);
    const versions = new Map<string, number>();
    informer.addHandlers('witness', { updated: () => versions.set(informer.version, (versions.get(informer.version) ?? 0) + 1) });
    runs(t, informer);
    let between = 0;
    for (let turn = 0; turn < 200 && informer.version !== '9'; turn++) {
      await turns(1);
      if (informer.get('ns/p0')?.metadata.resourceVersion === '8' && informer.get('ns/p5999')?.metadata.resourceVersion === '3')
        between += 1;
    }
    assert.ok(between > 0, 'nobody else had a turn');
    assert.deepEqual([...versions], [['5', 6_000]]);
  });
});

test('wherever it is stopped, nothing is left behind and nothing is told afterwards', async () => {
  const script = [
    `list 5 more: ${many(600, 1, 3)}`,
    'list 5: z#1@3',
    'watch: MODIFIED z#1@6, BOOKMARK 7',
    'fail 410',
    `list 9: ${many(6_000, 2, 8)}`,
    'watch hold',
  ];
  let whole = 0;
  for (let stopAt = 0; whole < 3; stopAt++) {
    const api = new ScriptedApi(...script);
    let reached = '';
    const metrics = { ...noReflectorMetrics, reached: (version: string) => (reached = version) };
    const { informer, clock, lines } = begin(api, { resyncMs: 250, metrics });
    const { told, handlers } = diary();
    informer.addHandlers('diary', handlers);
    const ending = new AbortController();
    const waiting = informer.whenSynced(ending.signal).catch((error: unknown) => error);
    const running = informer.run(ending.signal);
    const advancing = turns(6).then(() => clock.advance(600));
    await turns(stopAt);
    if (informer.version === '9') whole += 1;
    else assert.ok(['', '5', '6', '7'].includes(informer.version), informer.version);
    const saidThen = lines.length;
    const toldThen = told.length;
    ending.abort(new Error('over'));
    await running;
    const uids = new Set(informer.list().map(({ metadata }) => metadata.uid));
    if (informer.version === '9') assert.deepEqual([informer.size, ...uids], [6_000, '2'], `stopped after ${stopAt} turns`);
    else if (informer.version !== '') assert.ok(informer.size >= 601, `stopped after ${stopAt} turns`);
    assert.equal(informer.synced, informer.version !== '');
    await advancing;
    await atRest();
    await waiting;
    assert.equal(clock.sleepers, 0, `stopped after ${stopAt} turns, and somebody still waits`);
    assert.equal(reached, informer.version, `stopped after ${stopAt} turns, and called more than it told complete`);
    assert.deepEqual(lines.slice(saidThen), [], `stopped after ${stopAt} turns, and took that for trouble`);
    assert.equal(told.length, toldThen, `stopped after ${stopAt} turns, and told more`);
    assert.ok(stopAt < 500, 'the script never ended');
  }
});

const whole: Sink<KubeObject> = {
  keep: (item) => item,
  held: () => undefined,
  replace: async () => {},
  apply: () => 'applied',
  reached: () => {},
};

test('a present state may take its time, but for 30 s without an event, and silence after it ends nothing', async (t) => {
  const clock = new FakeClock();
  const told: string[] = [];
  const script = [[40_000, ''], [20_000, 'ADDED a#1@3'], [20_000, 'ADDED b#2@4'], [20_000, 'BOOKMARK 5 end'], [60_000, 'MODIFIED a#1@6']] as const; // prettier-ignore
  async function* watch(_: unknown, { opened, timeoutSeconds = 0 }: WatchQuery, signal: AbortSignal): AsyncGenerator<WatchEvent> {
    assert.ok(timeoutSeconds >= 300);
    for (const [ms, text] of script) {
      await clock.sleep(ms, signal);
      if (text === '') opened?.();
      else yield event(text);
    }
  }
  const replace = async (items: readonly KubeObject[]) => void told.push(items.map(written).join(' '));
  const apply = (_type: string, object: KubeObject) => (told.push(written(object)), 'applied' as const);
  const client = { ...new ScriptedApi().client, watch } as ReflectorOptions['client'];
  const options = { resource: pods, client, clock, random: () => 0, log: recordedLog().log };
  runs(t, new Reflector(options, { ...whole, replace, apply }), clock);
  await clock.advance(170_000);
  assert.deepEqual(told, ['a#1@3 b#2@4', 'a#1@6']);
});

const broken = (): never => {
  throw new Error('broken');
};

describe('what a sink throws is no trouble of the server', () => {
  for (const [what, part] of Object.entries({
    replace: { replace: async () => broken() },
    reached: { reached: broken },
  } satisfies Record<string, Partial<Sink<KubeObject>>>)) {
    test(`${what}: run ends with it, even when the client wraps it`, async () => {
      const { client } = new ScriptedApi('list 5: a#1@3', 'watch hold: MODIFIED a#1@6');
      const wrapping: ReflectorOptions['client'] = {
        watch: (...call) => client.watch(...call),
        listEach: (...call) =>
          client.listEach(...call).catch((cause: unknown) => {
            throw new Error('there is no connection', { cause });
          }),
      };
      const { log, lines } = recordedLog();
      const clock = new FakeClock();
      const reflector = new Reflector(
        { resource: pods, client: wrapping, clock, random: () => 0, log, streams: false },
        { ...whole, ...part },
      );
      await assert.rejects(reflector.run(new AbortController().signal), /^Error: broken$/);
      assert.equal(clock.sleepers, 0);
      assert.ok(!lines.some((line) => line.startsWith('warn')));
    });
  }
});

describe('what one object does to a sink costs that object alone', () => {
  const breaksAt =
    (name: string) =>
    (object: KubeObject): KubeObject => {
      if (object.metadata.name === name) throw new RangeError('Maximum call stack size exceeded');
      return object;
    };

  test('what it cannot keep is left out of a list, once in the log, by name', async (t) => {
    const api = new ScriptedApi('list 5: a#1@3 b#2@4', 'fail 410', 'list 6: a#1@3 b#2@4', 'watch hold');
    const replaced: string[] = [];
    const ignored: unknown[] = [];
    const replace = async (items: readonly KubeObject[]) => void replaced.push(items.map(written).join(' '));
    const { log, lines, fields } = recordedLog();
    const options = { resource: pods, client: api.client, clock: new FakeClock(), random: () => 0, log, streams: false };
    const onIgnored = (object: unknown) => ignored.push(object);
    runs(t, new Reflector({ ...options, onIgnored }, { ...whole, keep: breaksAt('b'), held: () => object('b#1@1'), replace }));
    await atRest();
    assert.deepEqual([replaced, ignored.length], [['a#1@3', 'a#1@3'], 1]);
    assert.ok(!lines.some((line) => line.startsWith('warn')), 'the first 410 is routine');
    const said = lines.flatMap((line, at) => (line.startsWith('error') ? [fields[at]] : []));
    assert.deepEqual(said, [{ object: 'ns/b', uid: '2', why: 'Maximum call stack size exceeded' }]);
  });
});
