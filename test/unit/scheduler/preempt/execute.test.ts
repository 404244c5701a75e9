import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { type LocalApi } from '../../../../apiserver/local-api.ts';
import type { Fault } from '../../../../apiserver/faults/fault.ts';
import { pods } from '../../../../kube/api/object.ts';
import type { Client } from '../../../../kube/client/client.ts';
import { ApiError } from '../../../../kube/client/errors.ts';
import { podInfoOf, type PodInfo } from '../../../../scheduler/pod/pod-info.ts';
import { executePreemption, type PreemptionEvent, type Preempted } from '../../../../scheduler/preempt/execute.ts';
import type { Pod } from '../../../../scheduler/types.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { pod } from '../builders.ts';
import { localApi, localClient } from '../../../support/embedded-api.ts';

/** An API server with pods on node n, and a preemptor that wants their room. */
class World {
  readonly api: LocalApi;
  readonly client: Client;
  /** Calls in their order, as `VERB NAME`. */
  readonly calls: string[] = [];
  readonly told: (PreemptionEvent & { pod: string })[] = [];
  /** Most calls that were under way at once. */
  most = 0;
  readonly clock = new FakeClock('2026-01-01T12:00:00Z');
  readonly end = new AbortController();
  #underWay = 0;

  constructor(t: TestContext, faults: readonly Fault[] = []) {
    this.api = localApi(this.clock, { faults, version: 'v1.36.3' });
    this.client = localClient(this.api);
    t.after(async () => {
      await this.client.close();
      this.api.stop();
    });
  }

  add(name: string, more: Record<string, unknown> = {}): PodInfo {
    const added = this.api.add({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name },
      spec: { nodeName: 'n', containers: [{ name: 'c', image: 'c' }], terminationGracePeriodSeconds: 30 },
    });
    if (Object.keys(more).length > 0) this.put(name, { ...added, ...more });
    return this.info(name);
  }

  put(name: string, object: object): void {
    this.api.hooks.storage.put('/pods', `default/${name}`, object as Pod);
  }

  find(name: string): Pod | undefined {
    return this.api.hooks.storage.get('/pods', `default/${name}`) as Pod | undefined;
  }

  info(name: string): PodInfo {
    const found = this.find(name);
    if (found === undefined) throw new RangeError(`there is no ${name}`);
    return podInfoOf(found);
  }

  async preempt(victims: readonly PodInfo[], unnominate: readonly PodInfo[] = [], atOnce?: number): Promise<Preempted> {
    const { client } = this;
    const call = async <T>(what: string, made: Promise<T>): Promise<T> => {
      this.calls.push(what);
      this.most = Math.max(this.most, (this.#underWay += 1));
      try {
        return await made;
      } finally {
        this.#underWay -= 1;
      }
    };
    return executePreemption(
      {
        client: {
          get: (resource, ref, options) => call(`get ${ref.name}`, client.get(resource, ref, options)),
          patch: (resource, ref, patch, options) => call(`patch ${ref.name}`, client.patch(resource, ref, patch, options)),
          delete: (resource, ref, options) => call(`delete ${ref.name}`, client.delete(resource, ref, options)),
        },
        clock: this.clock,
        tell: (victim, event) => this.told.push({ ...event, pod: victim.metadata.name ?? '' }),
        ...(atOnce === undefined ? {} : { atOnce }),
      },
      {
        preemptor: podInfoOf(pod('p').uid('uid-p').priority(10).spec({ schedulerName: 'dkc-scheduler' }).build()),
        node: 'n',
        victims,
        unnominate,
      },
      this.end.signal,
    );
  }
}

const nothing: Preempted = { failures: [], stillNominated: [] };
const fault = (verb: string, name: string, action: Fault['action'], more: Partial<Fault> = {}): Fault => ({
  verb,
  resource: verb === 'patch' ? 'pods/status' : 'pods',
  name,
  action,
  ms: 0,
  ...more,
});

const disrupted = { type: 'DisruptionTarget', status: 'True', reason: 'PreemptionByScheduler' };

test('a victim is told why it goes, and goes with its own grace', async (t) => {
  const world = new World(t);
  assert.deepEqual(await world.preempt([world.add('v')]), nothing);
  const v = world.find('v');
  const condition = v?.status?.conditions?.find(({ type }) => type === 'DisruptionTarget');
  const { lastProbeTime: _, ...said } = condition ?? assert.fail();
  const message = 'dkc-scheduler: preempting to accommodate a higher priority pod';
  assert.deepEqual(said, { ...disrupted, message, lastTransitionTime: '2026-01-01T12:00:00Z', observedGeneration: 1 });
  assert.equal(v?.metadata.deletionGracePeriodSeconds, 30);
  assert.deepEqual(world.told, [
    { pod: 'v', type: 'Normal', reason: 'Preempted', action: 'Preempting', note: 'Preempted by pod uid-p on node n' },
  ]);
});

test('all victims but the last go at once, the last after them', async (t) => {
  const world = new World(t);
  await world.preempt(['a', 'b', 'c'].map((name) => world.add(name)));
  assert.deepEqual(world.calls.slice(0, 2), ['patch a', 'patch b']);
  assert.deepEqual(world.calls.slice(2, 4).toSorted(), ['delete a', 'delete b']);
  assert.deepEqual(world.calls.slice(4), ['patch c', 'delete c']);
});

for (const { why, before } of [
  { why: 'is gone', before: async () => {} },
  { why: 'has a successor of its name', before: async (world: World) => void world.add('v') },
])
  test(`a victim that ${why} costs nothing, and nobody is told`, async (t) => {
    const world = new World(t);
    const v = world.add('v');
    await world.client.delete(pods, { name: 'v', namespace: 'default' }, { body: { gracePeriodSeconds: 0 } });
    await before(world);
    assert.deepEqual(await world.preempt([v]), nothing);
    assert.equal(world.find('v')?.metadata.deletionTimestamp, undefined);
    assert.equal(world.find('v')?.status?.conditions?.length ?? 0, 0);
    assert.deepEqual(world.told, []);
  });

const code = ({ failures }: Preempted): unknown[] => failures.map((error) => (error instanceof ApiError ? error.code : error));

for (const verb of ['patch', 'delete'])
  test(`when a victim's ${verb} fails, the last one stays and the failure is told`, async (t) => {
    const world = new World(t, [fault(verb, 'a', { status: 500 })]);
    const result = await world.preempt(['a', 'b', 'c'].map((name) => world.add(name)));
    assert.deepEqual(code(result), [500]);
    const goes = (name: string): boolean => world.find(name)?.metadata.deletionTimestamp !== undefined;
    assert.deepEqual(['a', 'b', 'c'].filter(goes), ['b']);
    assert.deepEqual([world.told.length, world.told[0]?.pod], [1, 'b']);
  });

const nominated = { phase: 'Pending', nominatedNodeName: 'n', message: 'stays' };

test('nominations of others are taken back', async (t) => {
  const world = new World(t);
  const waiting = world.add('w', { status: nominated });
  assert.deepEqual(await world.preempt([world.add('v')], [waiting]), nothing);
  assert.deepEqual(world.find('w')?.status, { phase: 'Pending', message: 'stays' });
  assert.equal(world.find('w')?.metadata.deletionTimestamp, undefined);
});

test('a nomination that cannot be taken back hinders nothing', async (t) => {
  const world = new World(t, [fault('patch', 'w', { status: 500 })]);
  const waiting = world.add('w', { status: nominated });
  const { failures, stillNominated } = await world.preempt([world.add('a'), world.add('b')], [waiting]);
  assert.deepEqual([failures, stillNominated.map(({ pod }) => pod.name)], [[], ['w']]);
  assert.equal(world.told.length, 2);
});
