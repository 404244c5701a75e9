import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { ServerResponse } from 'node:http';
import type { ExtenderConfig } from '../../../../scheduler/config/config.ts';
import { describeError } from '../../../../base/errors.ts';
import { pods as podKind } from '../../../../kube/api/object.ts';
import { pod } from '../builders.ts';
import { LiveWorld } from '../live-world.ts';
import { ExtenderServer, extenderConfig } from './extender-server.ts';

const LIMIT = { timeout: 120_000 };

/** What an extender does instead of answering. That every kind of failure ends a call is shown in extender.test.ts. */
type Trouble = (response: ServerResponse) => void;
const code500: Trouble = (response) => void response.writeHead(500).end();

interface Stage {
  world: LiveWorld;
  extender: ExtenderServer;
  /** Calls meet this; undefined: the extender does as it should. */
  trouble: Trouble | undefined;
  /** Pods of which the scheduler has heard, and those of whose end it has. */
  seen: Set<string>;
  gone: Set<string>;
}

/** Nodes that are full of pods `low-NODE`, and an extender that agrees to all that is asked, or binds. */
async function full(
  t: TestContext,
  nodes: readonly string[],
  more: Partial<ExtenderConfig>,
  { lows = '4', isEffective = false } = {},
): Promise<Stage> {
  const bind = async ({ PodName: name, PodNamespace: namespace, PodUID: uid, Node: node }: Record<string, unknown>): Promise<void> => {
    const metadata = { name, namespace, uid };
    const binding = { apiVersion: 'v1', kind: 'Binding', metadata, target: { apiVersion: 'v1', kind: 'Node', name: node } };
    await stage.world.client.post(podKind, { name: String(name), namespace: String(namespace) }, 'binding', binding);
  };
  const extender = await ExtenderServer.start(t, {
    preempt: ({ NodeNameToMetaVictims }, response) => {
      if (stage.trouble === undefined) return { NodeNameToMetaVictims };
      stage.trouble(response);
      return undefined;
    },
    bind: async (asked, response) => {
      // The pod may be preempted while it is bound: an extender answers with the error then.
      const failure = stage.trouble === undefined || isEffective ? await bind(asked).then(() => undefined, describeError) : undefined;
      if (stage.trouble === undefined) return failure === undefined ? {} : { Error: failure };
      stage.trouble(response);
      return undefined;
    },
  });
  const config = extenderConfig(extender.url, more);
  const [seen, gone] = [new Set<string>(), new Set<string>()];
  const world = await LiveWorld.start(t, nodes, {
    config: { extenders: [config], initialBackoffMs: 30, maxBackoffMs: 200 },
    by: {
      call: (_, pass) => pass(),
      async *watch({ resource }, pass) {
        for await (const event of pass()) {
          yield event;
          if (resource === 'pods' && event.type !== 'BOOKMARK')
            (event.type === 'DELETED' ? gone : seen).add(event.object.metadata.name ?? '');
        }
      },
    },
  });
  const stage: Stage = { world, extender, trouble: undefined, seen, gone };
  for (const node of nodes) world.add(pod(`low-${node}`).cpu(lows).on(node));
  await world.until('the scheduler has heard of them', () => nodes.every((node) => seen.has(`low-${node}`)));
  return stage;
}

test('as long as an extender that is asked for victims fails, no pod is preempted; then its answer counts', LIMIT, async (t) => {
  const stage = await full(t, ['a'], { preemptVerb: 'preempt' });
  const { world, extender } = stage;
  stage.trouble = code500;
  world.add(pod('high').cpu('2').priority(10));
  await world.refused(
    'high',
    /^Unschedulable: 0\/1 nodes are available: 1 Insufficient cpu. preemption: failed preempt with extender at URL http:\S+\/preempt, code 500$/,
  );
  await world.until('it is asked again', () => extender.calls.length >= 3);
  assert.deepEqual([world.nodeOf('low-a'), world.find('high')?.status?.nominatedNodeName ?? '', world.dump('nominations')], ['a', '', []]);
  stage.trouble = undefined;
  await world.bound('high', 'a');
  assert.equal(world.find('low-a'), undefined);
  await world.until('its event is there', () => world.told('low-a', 'Preempted') === 1);
  assert.deepEqual(world.dump('nominations'), []);
});

const meanwhile = [
  {
    why: 'a pod for which others were to go is deleted while an extender thinks about it: they stay',
    goes: 'high',
    outcome: async (world: LiveWorld) => {
      await world.until('it is gone', () => world.find('high') === undefined);
      // Whoever comes later waits for the answer as well, and everything that came of it has come by then.
      world.add(pod('next').cpu('1'));
      await world.refused('next', /Insufficient cpu/);
      assert.deepEqual([world.nodeOf('low-a'), world.told('low-a', 'Preempted'), world.dump('nominations')], ['a', 0, []]);
    },
  },
  {
    why: 'somebody else goes by itself while an extender thinks about who has to: there is room, and they stay',
    goes: 'peer',
    lows: '2',
    outcome: async (world: LiveWorld) => {
      await world.bound('high', 'a');
      assert.deepEqual([world.told('low-a', 'Preempted'), world.nodeOf('low-a'), world.dump('nominations')], [0, 'a', []]);
    },
  },
  {
    why: 'whoever was to go goes by itself while an extender thinks about it: there is room, and nobody else has to',
    goes: 'low-a',
    outcome: async (world: LiveWorld) => {
      await world.bound('high', 'a');
      assert.deepEqual([world.told('low-a', 'Preempted'), world.nodeOf('low-b'), world.dump('nominations')], [0, 'b', []]);
    },
    nodes: ['a', 'b'],
  },
];
for (const { why, goes, outcome, nodes = ['a'], lows = '4' } of meanwhile)
  test(why, LIMIT, async (t) => {
    const stage = await full(t, nodes, { preemptVerb: 'preempt' }, { lows });
    const { world, extender } = stage;
    if (goes === 'peer') {
      world.add(pod('peer').cpu('2').priority(10));
      await world.bound('peer', 'a');
    }
    const thinking = Promise.withResolvers<ServerResponse>();
    stage.trouble = thinking.resolve;
    world.add(pod('high').cpu('2').priority(10));
    const response = await thinking.promise;
    stage.trouble = undefined;
    await world.delete(goes);
    await world.until('the scheduler has heard of it', () => stage.gone.has(goes));
    const { NodeNameToMetaVictims: asked } = extender.requests.at(-1)?.body ?? {};
    const a = (asked as Record<string, unknown>)['a'];
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify({ NodeNameToMetaVictims: { a } }));
    await outcome(world);
  });

for (const { why, isEffective, calls } of [
  { why: 'fails at first is bound at last', isEffective: false, calls: 3 },
  { why: 'binds, though its answer is an error, is bound', isEffective: true, calls: 1 },
])
  test(`a preemptor whose extender ${why}, and counted once`, LIMIT, async (t) => {
    const stage = await full(t, ['a'], { bindVerb: 'bind' }, { isEffective });
    const { world, extender } = stage;
    stage.trouble = code500;
    world.add(pod('high').cpu('2').priority(10));
    await world.until('it is asked', () => extender.calls.length >= calls);
    assert.equal(world.find('low-a'), undefined);
    if (!isEffective) {
      assert.equal(world.nodeOf('high'), '');
      stage.trouble = undefined;
    }
    await world.bound('high', 'a');
    await world.until('its event is there', () => world.told('high', 'Scheduled') === 1);
    if (isEffective) assert.deepEqual(extender.calls, ['bind']);
    stage.trouble = undefined;
    world.add(pod('rest').cpu('2'));
    await world.bound('rest', 'a');
    world.add(pod('none').cpu('1'));
    await world.refused('none', /Insufficient cpu/);
  });

test(
  'what an extender takes its time to bind counts from the decision on, and nobody waits for it who goes elsewhere',
  LIMIT,
  async (t) => {
    const stage = await full(t, ['a'], { bindVerb: 'bind' });
    const { world, extender } = stage;
    const thinking = Promise.withResolvers<ServerResponse>();
    stage.trouble = thinking.resolve;
    world.add(pod('high').cpu('3').priority(10));
    const response = await thinking.promise;
    stage.trouble = undefined;
    world.add(pod('thief').cpu('2'));
    await world.refused('thief', /Insufficient cpu/);
    world.add(pod('small').cpu('1'));
    await world.bound('small', 'a');
    assert.equal(world.nodeOf('high'), '');
    response.writeHead(500).end();
    await world.until('it is asked again', () => extender.calls.filter((call) => call === 'bind').length >= 3);
    await world.until('one of them is bound', () => ['high', 'thief'].some((name) => world.nodeOf(name) === 'a'));
  },
);
