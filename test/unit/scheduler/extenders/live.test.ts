import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { ServerResponse } from 'node:http';
import type { ExtenderConfig } from '../../../../scheduler/config/config.ts';
import { describeError } from '../../../../base/errors.ts';
import { pods as podKind } from '../../../../kube/api/resources.ts';
import { pod } from '../builders.ts';
import { LiveWorld } from '../live-world.ts';
import { ExtenderServer, extenderConfig } from './extender-server.ts';

const LIMIT = { timeout: 120_000 };

/** What an extender does instead of answering. */
type Trouble = (response: ServerResponse) => void;
const code500: Trouble = (response) => void response.writeHead(500).end();
const nonsense: Trouble = (response) => void response.writeHead(200).end('{"NodeNameToMetaVictims": {');
const cut: Trouble = (response) => void response.destroy();
const silence: Trouble = () => {};
/** How long silence is waited for: also where both sides are kept from working for a while the call has come by then. */
const SILENCE_MS = 1_000;
const patienceFor = (trouble: Trouble): Partial<ExtenderConfig> => (trouble === silence ? { httpTimeoutMs: SILENCE_MS } : {});

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

const preempting = [
  { why: 'answers 500', trouble: code500, says: /^SchedulerError: failed preempt with extender at URL http:\S+\/preempt, code 500$/ },
  { why: 'does not answer in time', trouble: silence, says: /^SchedulerError: failed preempt with extender at URL \S+: .*1000 ms/ },
  {
    why: 'answers with half of a JSON',
    trouble: nonsense,
    says: /^SchedulerError: failed preempt with extender at URL \S+: the answer is no JSON$/,
  },
  { why: 'ends the connection', trouble: cut, says: /^SchedulerError: failed preempt with extender at URL \S+: / },
];
for (const { why, trouble, says } of preempting) {
  test(`as long as an extender that is asked who has to go ${why}, nobody goes; then it has its say`, LIMIT, async (t) => {
    const stage = await full(t, ['a'], { preemptVerb: 'preempt', ...patienceFor(trouble) });
    const { world, extender } = stage;
    stage.trouble = trouble;
    world.add(pod('high').cpu('2').priority(10));
    await world.refused('high', says);
    await world.until('it is asked again', () => extender.calls.length >= 3);
    assert.deepEqual(
      [world.nodeOf('low-a'), world.find('high')?.status?.nominatedNodeName ?? '', world.dump('nominations')],
      ['a', '', []],
    );
    stage.trouble = undefined;
    await world.bound('high', 'a');
    assert.equal(world.find('low-a'), undefined);
    await world.until('it is told', () => world.told('low-a', 'Preempted') === 1);
    assert.deepEqual(world.dump('nominations'), []);
  });

  test(`an extender that nothing depends on and that ${why} is passed over when somebody has to go`, LIMIT, async (t) => {
    const stage = await full(t, ['a'], { preemptVerb: 'preempt', ignorable: true, ...patienceFor(trouble) });
    stage.trouble = trouble;
    stage.world.add(pod('high').cpu('2').priority(10));
    await stage.world.bound('high', 'a');
    await stage.world.until('it is told', () => stage.world.told('low-a', 'Preempted') === 1);
    assert.ok(stage.extender.calls.length > 0);
  });
}

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

const binding = [
  { why: 'answers 500', trouble: code500 },
  { why: 'does not answer in time', trouble: silence },
  { why: 'answers with half of a JSON', trouble: nonsense },
  { why: 'ends the connection', trouble: cut },
];
for (const { why, trouble } of binding) {
  test(`a pod for whom others went is bound at last by an extender that ${why} at first`, LIMIT, async (t) => {
    const stage = await full(t, ['a'], { bindVerb: 'bind', ...patienceFor(trouble) });
    const { world, extender } = stage;
    stage.trouble = trouble;
    world.add(pod('high').cpu('2').priority(10));
    await world.until('it is asked again', () => extender.calls.length >= 3);
    assert.deepEqual([world.find('low-a'), world.nodeOf('high')], [undefined, '']);
    stage.trouble = undefined;
    await world.bound('high', 'a');
    // Counted once: what is left is free, and no more.
    world.add(pod('rest').cpu('2'));
    await world.bound('rest', 'a');
    world.add(pod('none').cpu('1'));
    await world.refused('none', /Insufficient cpu/);
  });

  test(`a pod for whom others went and that an extender binds, though it ${why}, is bound and counted once`, LIMIT, async (t) => {
    const stage = await full(t, ['a'], { bindVerb: 'bind', ...patienceFor(trouble) }, { isEffective: true });
    const { world, extender } = stage;
    stage.trouble = trouble;
    world.add(pod('high').cpu('2').priority(10));
    await world.bound('high', 'a');
    await world.until('it is told', () => world.told('high', 'Scheduled') === 1);
    assert.deepEqual(extender.calls, ['bind']);
    stage.trouble = undefined;
    world.add(pod('rest').cpu('2'));
    await world.bound('rest', 'a');
    world.add(pod('none').cpu('1'));
    await world.refused('none', /Insufficient cpu/);
  });

  test(`an extender that nothing depends on and that ${why} leaves the binding to the scheduler`, LIMIT, async (t) => {
    const stage = await full(t, ['a'], { bindVerb: 'bind', ignorable: true, ...patienceFor(trouble) });
    stage.trouble = trouble;
    stage.world.add(pod('high').cpu('2').priority(10));
    await stage.world.bound('high', 'a');
    assert.equal(stage.extender.calls.length, 1);
  });
}

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
