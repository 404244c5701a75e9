import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { pods as podKind } from '../../../../kube/api/object.ts';
import type { ExtenderConfig } from '../../../../scheduler/config/config.ts';
import { pod } from '../builders.ts';
import { scene } from '../simulated/scene.ts';
import { type Behaviour, ExtenderServer, extenderConfig } from './extender-server.ts';

const onA = { 'kubernetes.io/hostname': 'a' };

/** A scheduler in fake time that asks an extender over a real connection. */
async function asking(t: TestContext, nodes: readonly string[], verbs: Record<string, Behaviour>, more: Partial<ExtenderConfig>) {
  const extender = await ExtenderServer.start(t, verbs);
  const config = { extenders: [extenderConfig(extender.url, more)], initialBackoffMs: 30, maxBackoffMs: 200 };
  const found = await scene(t, nodes, { config });
  const conditionOf = (name: string): string => found.condition(name)?.message ?? '';
  const comesTrue = async (what: string, holds: () => boolean): Promise<void> => {
    for (let n = 0; !holds(); n++) {
      assert.ok(n < 3_000, what);
      await found.world.clock.advance(20);
      await setTimeout(2);
    }
  };
  return { ...found, extender, conditionOf, comesTrue };
}

test('a pod goes where its extenders allow and score best', async (t) => {
  const verbs: Record<string, Behaviour> = {
    filter: ({ NodeNames }) => ({
      NodeNames: (NodeNames as string[]).filter((name) => name !== 'a'),
      FailedNodes: { a: 'I do not like it' },
    }),
    prioritize: ({ NodeNames }) => (NodeNames as string[]).map((Host) => ({ Host, Score: Host === 'c' ? 10 : 0 })),
  };
  const more = { filterVerb: 'filter', prioritizeVerb: 'prioritize', weight: 5 };
  const { stage, nodeOf, conditionOf, comesTrue } = await asking(t, ['a', 'b', 'c'], verbs, more);
  stage.add(pod('web').cpu('1'));
  await comesTrue('it is bound', () => nodeOf('web') === 'c');
  stage.add(pod('other').cpu('1').selects(onA));
  await comesTrue('it is refused', () => conditionOf('other').includes('1 I do not like it'));
});

test('a pod that is deleted while an extender is called with it is skipped', async (t) => {
  const filter: Behaviour = async ({ NodeNames }) => {
    await change('web', { metadata: { finalizers: ['test/wait'] } });
    await world.user.delete(podKind, { name: 'web', namespace: 'default' });
    return { NodeNames };
  };
  const { world, stage, find, change, events, comesTrue } = await asking(t, ['a'], { filter }, { filterVerb: 'filter' });
  stage.add(pod('web').cpu('1'));
  await comesTrue('it is terminating', () => find('web')?.metadata.deletionTimestamp !== undefined);
  await world.clock.advance(1_000);
  const messages = (await events('web')).map(({ message }) => message);
  assert.deepEqual(messages, ['skip schedule deleting pod: default/web']);
});

test('as long as an extender that is asked for victims fails, no pod is preempted; then its answer counts', async (t) => {
  let fails = true;
  const preempt: Behaviour = ({ NodeNameToMetaVictims }, response) =>
    fails ? void response.writeHead(500).end() : { NodeNameToMetaVictims };
  const { world, stage, extender, find, nodeOf, conditionOf, comesTrue } = await asking(t, ['a'], { preempt }, { preemptVerb: 'preempt' });
  stage.add(pod('low').cpu('4'));
  await comesTrue('it is bound', () => nodeOf('low') === 'a');
  stage.add(pod('high').cpu('2').priority(10));
  const why = `0/1 nodes are available: 1 Insufficient cpu. preemption: failed preempt with extender at URL ${extender.url}/preempt, code 500`;
  await comesTrue('it is refused', () => conditionOf('high') === why);
  await comesTrue('it is asked again', () => extender.requests.length >= 3);
  assert.deepEqual([nodeOf('low'), world.parts?.nominator.size], ['a', 0]);
  fails = false;
  await comesTrue('it is bound', () => nodeOf('high') === 'a');
  assert.equal(find('low'), undefined);
});

test('a pod whose extender fails at first is bound at last, and counted once', async (t) => {
  let fails = 2;
  const bind: Behaviour = async ({ PodName, PodNamespace, PodUID: uid, Node: name }, response) => {
    if (fails-- > 0) return void response.writeHead(500).end();
    const ref = { name: String(PodName), namespace: String(PodNamespace) };
    const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { ...ref, uid }, target: { apiVersion: 'v1', kind: 'Node', name } };
    await world.user.post(podKind, ref, 'binding', binding);
    return {};
  };
  const { world, stage, extender, nodeOf, conditionOf, comesTrue } = await asking(t, ['a'], { bind }, { bindVerb: 'bind' });
  stage.add(pod('first').cpu('3'));
  await comesTrue('it is bound', () => nodeOf('first') === 'a');
  assert.equal(extender.requests.length, 3);
  stage.add(pod('second').cpu('2'));
  await comesTrue('it is refused', () => conditionOf('second').includes('Insufficient cpu'));
});
