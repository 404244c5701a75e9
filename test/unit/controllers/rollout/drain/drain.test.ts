import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseFaults } from '../../../../../apiserver/faults/fault.ts';
import { pods as podsResource } from '../../../../../kube/api/object.ts';
import { Killed, Stage } from './stage.ts';

/** What a person sees of a node. */
async function state(stage: Stage): Promise<object> {
  const { metadata, spec, status } = await stage.node();
  const ours = Object.keys(metadata.annotations ?? {}).filter((name) => name.startsWith('dkc.dev/'));
  const conditions = status?.conditions?.map(({ type }) => type) ?? [];
  return { annotations: ours, unschedulable: spec?.unschedulable === true, conditions, pods: await stage.podNames() };
}

const untouched = { annotations: [], unschedulable: false, conditions: [] };

test('a node is cordoned, drained and given back', async () => {
  const stage = new Stage();
  await stage.add('agent+daemon cache+emptydir job+succeeded web');
  await stage.budget('web', 1);
  assert.equal((await stage.drain()).do, 'drained');
  assert.deepEqual(stage.log.slice(1), [
    'set conditions +MaintenanceInProgress +DrainInProgress',
    'evict cache web',
    'set conditions -DrainInProgress +Drained',
    'drained',
  ]);
  assert.deepEqual(await state(stage), {
    annotations: ['dkc.dev/drained-by', 'dkc.dev/drain-started', 'dkc.dev/cordoned-by'],
    unschedulable: true,
    conditions: ['MaintenanceInProgress', 'Drained'],
    pods: 'agent job',
  });
  assert.equal((await stage.giveBack()).do, 'given-back');
  assert.deepEqual(await state(stage), { ...untouched, pods: 'agent job' });
});

test('a budget holds one pod and no other, is named, and is asked again until it allows', async () => {
  const stage = new Stage();
  await stage.add('a b c');
  await stage.budget('b', 0);
  stage.before = async (step) => (step === 8 ? stage.budget('b', 1) : undefined);
  assert.equal((await stage.drain()).do, 'drained');
  const refused = stage.outcomes.flatMap((outcome) => (outcome.result === 'evicted' ? outcome.refused : []));
  assert.equal(refused[0]?.why, 'The disruption budget b needs 1 healthy pods and has 1 currently');
  assert.deepEqual(stage.log.slice(2, 5), ['evict a b c', 'evict b', 'evict b']);
});

test('a server before 1.22 is sent evictions of policy/v1beta1', async () => {
  const stage = new Stage(2_000, 'v1.20.2');
  await stage.add('web');
  const sent: unknown[] = [];
  const post = stage.client.post.bind(stage.client);
  stage.client.post = (...args) => {
    sent.push((args[3] as { apiVersion: string }).apiVersion);
    return post(...args);
  };
  assert.equal((await stage.drain()).do, 'drained');
  assert.deepEqual(sent, ['policy/v1beta1']);
});

const refusals: { why: string; fault: object; expected: string | RegExp }[] = [
  { why: 'a server that is not reachable stops the others', fault: { status: 'drop', count: 1 }, expected: /cut|connection/ },
  { why: 'a refusal of one pod is named and stops no other', fault: { status: 403, count: 1 }, expected: 'a: 403 ' },
];
for (const { why, fault, expected } of refusals) {
  test(`eviction: ${why}`, async () => {
    const stage = new Stage();
    await stage.add('a b');
    stage.before = async (step, at) => {
      if (step === 3 && at === 'read') stage.api.hooks.setFaults(parseFaults([{ verb: 'create', resource: 'pods/eviction', ...fault }]));
    };
    const seen = await stage.drain().then(
      () =>
        stage.outcomes
          .flatMap((one) => (one.result === 'evicted' ? one.refused.map((pod) => `${pod.name}: ${pod.why.slice(0, 4)}`) : []))
          .join(),
      (error: Error) => error.message,
    );
    if (typeof expected === 'string') assert.equal(seen, expected);
    else assert.match(seen, expected);
    // The next process, or the next sync, goes on.
    assert.equal((await stage.drain()).do, 'drained');
  });
}

test('a pod that was replaced by another of its name is not evicted', async () => {
  const stage = new Stage(0);
  await stage.add('web');
  stage.before = async (step, at) => {
    if (step !== 3 || at !== 'write') return;
    await stage.client.delete(podsResource, { name: 'web', namespace: 'shop' }, { body: { gracePeriodSeconds: 0 } });
    await stage.add('web');
  };
  await stage.drain();
  const first = stage.outcomes.find(({ result }) => result === 'evicted');
  assert.deepEqual(first?.result === 'evicted' && [first.evicted.length, first.gone.length], [0, 1]);
});

describe('a process that is killed at a write is followed by one that goes on:', () => {
  const play = async (kill?: { write: number; at: 'before' | 'after' }): Promise<{ end: object[]; writes: number }> => {
    const stage = new Stage();
    await stage.add('a b agent+daemon');
    await stage.budget('b', 0);
    stage.before = async () => (stage.clock.monotonic() > 12_000 ? stage.budget('b', 1) : undefined);
    let writes = 0;
    stage.aroundWrite = (write, at) => {
      writes = write;
      if (write !== kill?.write || at !== kill.at) return;
      throw new Killed();
    };
    const again = async (run: () => Promise<unknown>): Promise<void> => {
      await run().catch(async (error: unknown) => {
        if (!(error instanceof Killed)) throw error;
        stage.restart();
        await run();
      });
    };
    await again(() => stage.drain());
    const drained = await state(stage);
    await again(() => stage.giveBack());
    return { end: [drained, await state(stage)], writes };
  };
  for (const at of ['before', 'after'] as const) {
    test(at, async () => {
      const { end, writes } = await play();
      assert.deepEqual(end[1], { ...untouched, pods: 'agent' });
      // Cordon, conditions, evictions of a, of b and of b again, conditions, conditions, uncordon.
      assert.ok(writes >= 8, `only ${writes} writes`);
      for (let write = 1; write <= writes; write++) {
        assert.deepEqual((await play({ write, at })).end, end, `killed ${at} write ${write}`);
      }
    });
  }
});

describe('a person at any step', () => {
  // Steps of this drain: cordon, conditions, evict, wait or conditions, drained, remove conditions, uncordon, given-back.
  for (const at of ['read', 'write'] as const) {
    for (const act of ['cordon', 'uncordon', 'label'] as const) {
      test(`${act}s between ${at === 'read' ? 'two steps' : 'plan and write'}`, async () => {
        for (let step = 1, acted = true; acted; step++) {
          acted = false;
          const stage = new Stage();
          await stage.add('a');
          let cordonWasForeign = false;
          stage.before = async (number, when) => {
            if (number !== step || when !== at) return;
            acted = true;
            cordonWasForeign = act === 'cordon' && (await stage.node()).spec?.unschedulable !== true;
            await stage.person(act);
          };
          const end = await stage.drain();
          const uncordoned = act === 'uncordon' && (await stage.node()).spec?.unschedulable !== true && end.do === 'failed';
          await stage.giveBack();
          const { unschedulable, annotations, conditions } = (await state(stage)) as typeof untouched;
          assert.deepEqual({ annotations, conditions }, { annotations: [], conditions: [] }, `step ${step}`);
          assert.equal(unschedulable, cordonWasForeign, `step ${step}`);
          if (uncordoned) assert.equal(stage.log.filter((line) => line.startsWith('cordon')).length, 1, `step ${step}: cordoned again`);
        }
      });
    }
  }
});
