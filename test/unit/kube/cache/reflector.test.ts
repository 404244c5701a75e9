import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '../../../../kube/api/object.ts';
import { Reflector } from '../../../../kube/cache/reflector.ts';
import type { ReflectorOptions, Sink } from '../../../../kube/cache/reflector.ts';
import { atRest, FakeClock } from '../../../support/fake-clock.ts';
import { recordedLog } from '../../../support/recorded-log.ts';
import { pods, runs } from './informer-world.ts';
import { written } from './notation.ts';
import { ScriptedApi } from './scripted-api.ts';

const whole: Sink<KubeObject> = {
  keep: (item) => item,
  held: () => undefined,
  replace: async () => {},
  apply: () => 'applied',
  reached: () => {},
};

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
    runs(t, new Reflector({ ...options, onIgnored }, { ...whole, keep: breaksAt('b'), replace }));
    await atRest();
    assert.deepEqual([replaced, ignored.length], [['a#1@3', 'a#1@3'], 1]);
    const said = lines.flatMap((line, at) => (line.startsWith('error') ? [fields[at]] : []));
    assert.deepEqual(said, [{ object: 'ns/b', uid: '2', why: 'Maximum call stack size exceeded' }]);
  });
});
