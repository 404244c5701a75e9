import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podInfoOf, type PodInfo } from '../../../../scheduler/pod/pod-info.ts';
import type { PotentialNode } from '../../../../scheduler/preempt/candidates.ts';
import { planPreemption } from '../../../../scheduler/preempt/plan.ts';
import { pod } from '../builders.ts';
import { budget } from './budget.ts';
import type { Client } from '../../../../kube/client/client.ts';
import { ApiError } from '../../../../kube/client/errors.ts';
import { executePreemption, type PreemptionEvent, type Preempted } from '../../../../scheduler/preempt/execute.ts';
import type { Pod } from '../../../../scheduler/types.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { servedBudgets } from '../../../../scheduler/informers.ts';

/* Who has to go from a node is told in oracle/preempt.test.ts, of the product as well; how many nodes are tried is told here. */

/** Nodes hold one pod each: `1` a lesser one, `x` one that a budget protects, `=` an equal one; any of them is enough. */
const cases: { why: string; nodes: string; offset?: number; percentage?: number; absolute?: number; tried: string; none?: number }[] = [
  { why: 'begins at the offset and goes round', nodes: '1111', offset: 2, tried: '2301' },
  { why: 'stops at the wanted share', nodes: '1111111111', percentage: 39, absolute: 1, tried: '012' },
  { why: 'wants what is more of both', nodes: '1111111111', percentage: 20, absolute: 3, tried: '012' },
  { why: 'goes on until one breaks no budget', nodes: 'xxx1111', absolute: 2, tried: '0123' },
  { why: 'comes to an end where all break budgets', nodes: 'xxx', absolute: 1, tried: '012' },
  { why: 'skips equals without a trial', nodes: '=1=1', absolute: 2, tried: '13', none: 2 },
];
for (const { why, nodes, offset = 0, percentage = 0, absolute = 100, tried, none = 0 } of cases)
  test(`a plan for many nodes ${why}`, () => {
    const trials: string[] = [];
    const candidates = nodes.split('').map((kind, at): PotentialNode => {
      const there = podInfoOf(pod(`p${at}`).priority(kind === '=' ? 10 : 0).labels({ app: kind }).build()); // prettier-ignore
      const pods = new Set([there]);
      return { node: `${at}`,
        lowest: there.priority,
        tryOut: () => {
          trials.push(`${at}`);
          const fits = () => pods.size === 0;
          return { node: `${at}`, pods: [there], remove: (one) => void pods.delete(one), add: (one) => void pods.add(one), fits, reasons: () => ['full'] };
        },
      };
    }); // prettier-ignore
    const limits = { minCandidateNodesPercentage: percentage, minCandidateNodesAbsolute: absolute };
    const budgets = [budget('x', 0, { matchLabels: { app: 'x' } })];
    const now = '2026-01-01T18:00:00.000Z';
    const wants = podInfoOf(pod('p').priority(10).build());
    const plan = planPreemption({ pod: wants, nodes: nodes.length, candidates, budgets, offset, limits, now });
    assert.deepEqual([trials.join(''), plan.candidates.map(({ node }) => node).join('')], [tried, tried]);
    assert.deepEqual([...plan.refused], none === 0 ? [] : [['No preemption victims found for incoming pod', none]]);
  });

type Patch = { metadata?: { uid?: string }; status?: { conditions?: object[]; nominatedNodeName?: null } };

/** A server with pods on node n, and a preemptor that wants their room. `fails`: calls, as `VERB NAME`, and the code that each of them gets. */
class World {
  readonly pods = new Map<string, Pod>();
  /** In their order, as `VERB NAME`; and what was written. */
  readonly calls: string[] = [];
  readonly patches: Patch[] = [];
  readonly told: (PreemptionEvent & { pod: string })[] = [];
  readonly fails: Record<string, number> = {};

  add(name: string, uid = `uid-${name}`): PodInfo {
    const made = pod(name).uid(uid).on('n').build();
    this.pods.set(name, made);
    return podInfoOf(made);
  }

  /** @throws {ApiError} as a server does */
  #answer(verb: string, name: string, uid?: string): Pod {
    this.calls.push(`${verb} ${name}`);
    const found = this.pods.get(name);
    const conflict = uid !== undefined && found?.metadata.uid !== uid ? 409 : undefined;
    const code = this.fails[`${verb} ${name}`] ?? (found === undefined ? 404 : conflict);
    const reason = { 404: 'NotFound', 409: 'Conflict' }[code ?? 0] ?? 'InternalError';
    if (code !== undefined || found === undefined)
      throw new ApiError({ method: verb, path: name, host: 'local' }, { code: code ?? 404, reason, message: 'the test says so' });
    return found;
  }

  preempt(victims: readonly PodInfo[], unnominate: readonly PodInfo[] = []): Promise<Preempted> {
    const client = {
      get: async (_: unknown, { name }: { name: string }) => this.#answer('get', name),
      patch: async (_: unknown, { name }: { name: string }, patch: Patch) => {
        const found = this.#answer('patch', name, patch.metadata?.uid);
        this.patches.push(patch);
        return found;
      },
      delete: async (_: unknown, { name }: { name: string }, { body }: { body: { preconditions?: { uid?: string } } }) => {
        this.#answer('delete', name, body.preconditions?.uid);
        this.pods.delete(name);
      },
    };
    const preemptor = podInfoOf(pod('p').uid('uid-p').priority(10).spec({ schedulerName: 'dkc-scheduler' }).build());
    return executePreemption(
      {
        client: client as unknown as Pick<Client, 'get' | 'patch' | 'delete'>,
        clock: new FakeClock('2026-01-01T12:00:00Z'),
        recordEvent: (victim, event) => this.told.push({ ...event, pod: victim.metadata.name ?? '' }),
      },
      { preemptor, node: 'n', victims, unnominate },
      new AbortController().signal,
    );
  }
}

const nothing: Preempted = { failures: [], stillNominated: [] };

test('a victim gets its condition, and is deleted with an event', async () => {
  const world = new World();
  assert.deepEqual(await world.preempt([world.add('v')]), nothing);
  const message = 'dkc-scheduler: preempting to accommodate a higher priority pod';
  const [condition] = world.patches[0]?.status?.conditions ?? [];
  const said = { type: 'DisruptionTarget', status: 'True', reason: 'PreemptionByScheduler', message };
  assert.deepEqual({ ...condition, ...said, lastTransitionTime: '2026-01-01T12:00:00Z' }, condition);
  assert.equal(world.pods.size, 0);
  const note = 'Preempted by pod uid-p on node n';
  assert.deepEqual(world.told, [{ pod: 'v', type: 'Normal', reason: 'Preempted', action: 'Preempting', note }]);
});

test('all victims but the last are deleted at once, the last after them; terminating ones are left alone', async () => {
  const world = new World();
  const goes = podInfoOf(pod('goes').on('n').terminating().build());
  await world.preempt([goes, ...['a', 'b', 'c'].map((name) => world.add(name))]);
  assert.deepEqual(world.calls.slice(0, 2), ['patch a', 'patch b']);
  assert.deepEqual(world.calls.slice(2, 4).toSorted(), ['delete a', 'delete b']);
  assert.deepEqual(world.calls.slice(4), ['patch c', 'delete c']);
});

for (const { why, before } of [
  { why: 'is gone', before: (world: World) => void world.pods.delete('v') },
  { why: 'has a successor of its name', before: (world: World) => void world.add('v', 'later') },
])
  test(`a victim that ${why} costs nothing, and nobody is told`, async () => {
    const world = new World();
    const v = world.add('v');
    before(world);
    const left = world.pods.size;
    assert.deepEqual(await world.preempt([v]), nothing);
    assert.deepEqual([world.pods.size, world.patches, world.told], [left, [], []]);
  });

for (const verb of ['patch', 'delete'])
  test(`when a victim's ${verb} fails, the last one stays and the failure is told`, async () => {
    const world = new World();
    world.fails[`${verb} a`] = 500;
    const { failures } = await world.preempt(['a', 'b', 'c'].map((name) => world.add(name)));
    assert.deepEqual(failures.map((error) => (error instanceof ApiError ? error.code : error)), [500]); // prettier-ignore
    assert.deepEqual([...world.pods.keys()], ['a', 'c']);
    assert.deepEqual(world.told.map((one) => one.pod), ['b']); // prettier-ignore
  });

test('a conflict over a pod that is still the same is a failure', async () => {
  const world = new World();
  world.fails['delete v'] = 409;
  assert.equal((await world.preempt([world.add('v')])).failures.length, 1);
  assert.equal(world.calls.at(-1), 'get v');
});

test('nominations of other pods are cleared; a failure is returned and stops nothing', async () => {
  const world = new World();
  world.fails['patch x'] = 500;
  const { failures, stillNominated } = await world.preempt([world.add('v')], [world.add('w'), world.add('x')]);
  assert.deepEqual([failures, stillNominated.map(({ pod: { name } }) => name)], [[], ['x']]);
  assert.equal(world.patches.find(({ status }) => status !== undefined && 'nominatedNodeName' in status)?.status?.nominatedNodeName, null);
  assert.deepEqual([...world.pods.keys()].toSorted(), ['w', 'x']);
});

for (const version of ['v1', 'v1beta1', undefined])
  test(`a server may have budgets as ${version ?? 'nothing, though it knows the group'}`, async (t) => {
    const raw = async (_: string, path: string): Promise<unknown> => ({
      resources: path.endsWith(`/${version}`) ? [{ name: 'poddisruptionbudgets' }] : [],
    });
    assert.equal((await servedBudgets({ raw }, t.signal))?.version, version);
  });
