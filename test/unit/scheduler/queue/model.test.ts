import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../../../base/random.ts';
import type { ClusterEvent } from '../../../../scheduler/types.ts';
import type { Rejector } from '../../../../scheduler/plugins/names.ts';
import { podInfoOf, type PodInfo } from '../../../../scheduler/pod/pod-info.ts';
import type { Failure, Hint, QueuedPod } from '../../../../scheduler/queue/contract.ts';
import { createQueue } from '../../../../scheduler/queue/queue.ts';
import { pod } from '../builders.ts';
import { ModelQueue } from './model-queue.ts';

const rejectors = ['NodeResourcesFit', 'InterPodAffinity', 'NodePorts'] as const;
const SEEDS = Number(process.env['DKC_QUEUE_SEEDS'] ?? 30);
const STEPS = 400;

/** A pod that went: its labels name whom that helps, its namespace the class of pods. */
const helps = (rejector: Rejector, info: PodInfo, went: PodInfo) =>
  went.namespace === info.namespace && Object.hasOwn(went.labels, rejector);
const hints = new Map<Rejector, Hint>(
  rejectors.map((rejector) => [rejector, (info, event) => event.kind === 'assigned-pod-deleted' && helps(rejector, info, event.before)]),
);

for (let seed = 1; seed <= SEEDS; seed++)
  test(`the queue does in ${STEPS} steps what a plain list would do: seed ${seed}`, () => {
    const random = seededRandom(seed);
    const upTo = (n: number) => Math.floor(random() * n);
    const chance = (share: number) => random() < share;
    const model = new ModelQueue();
    const queue = createQueue({
      now: () => model.now,
      initialBackoffMs: 1_000,
      maxBackoffMs: 10_000,
      flushMs: 300_000,
      hints,
      prioritized: ({ uid }) => model.prioritized.has(uid),
      classOf: ({ namespace }) => namespace,
    });
    let flying: QueuedPod[] = [];
    let made = 0;
    const told: string[] = [];
    const anyone = () => model.pods[upTo(model.pods.length)];
    const some = () => rejectors.filter(() => chance(0.4));

    const newPod = () => {
      const name = `${chance(0.5) ? 'x' : 'y'}/p${upTo(12)}`;
      const gated = chance(0.1);
      const builder = pod(name).uid(`${name}#${made++}`).priority(upTo(3)).cpu('8');
      const info = podInfoOf((gated ? builder.spec({ schedulingGates: [{ name: 'g' }] }) : builder).build());
      if (chance(0.2)) model.prioritized.add(info.uid);
      model.add(info, gated);
      queue.add(info);
      return `add ${info.uid}`;
    };
    const change = () => {
      const known = anyone();
      if (known === undefined) return 'nothing';
      const { info } = known;
      const how = upTo(3);
      const spec = { ...info.pod.spec, containers: [...(info.pod.spec?.containers ?? [])] };
      const { metadata } = info.pod;
      let next = { ...info.pod, status: { phase: 'Pending', message: `${made++}` } };
      let voids: string[] = [];
      if (how === 1) {
        const cpu = `${Math.max(1, info.requests.cpu - 1)}m`;
        next = { ...next, spec: { ...spec, containers: [{ name: 'main', resources: { requests: { cpu } } }] } };
        voids = info.requests.cpu > 1 ? ['NodeResourcesFit'] : [];
      } else if (how === 2) {
        next = { ...next, metadata: { ...metadata, labels: { ...metadata.labels, n: `${made++}` } } };
        voids = ['InterPodAffinity'];
      }
      const opens = known.at === 'gated' && chance(0.5);
      if (opens) {
        const { schedulingGates, ...open } = { ...next.spec, containers: next.spec?.containers ?? [] };
        assert.ok(schedulingGates);
        next = { ...next, spec: open };
      }
      const after = podInfoOf(next);
      model.change(after, known.at === 'gated' && !opens, voids);
      queue.add(after);
      return `change ${how} ${info.uid}`;
    };
    const wake = () => {
      const labels = Object.fromEntries(some().map((rejector) => [rejector, '']));
      const went = podInfoOf(
        pod(`${chance(0.5) ? 'x' : 'y'}/gone`)
          .labels(labels)
          .build(),
      );
      const only = chance(0.3) ? (info: PodInfo) => info.priority > 0 : undefined;
      const event: ClusterEvent = { kind: 'assigned-pod-deleted', before: went };
      model.enqueueOn({ helps: (info, rejector) => helps(rejector as Rejector, info, went), only });
      queue.enqueueOn(event, only);
      return `wake ${went.namespace} ${Object.keys(labels).join()}`;
    };
    const land = () => {
      const [queued] = flying.splice(upTo(flying.length), 1);
      if (queued === undefined) return 'nothing';
      const { uid } = queued.info;
      const how = random();
      if (how < 0.2) {
        if (model.of(uid)?.at === 'in-flight') model.delete(uid);
        queue.done(uid);
        return `done ${uid}`;
      }
      const by = some();
      const failure: Failure = how < 0.35 || by.length === 0 ? { why: 'error' } : { why: 'refused', by: new Set(by) };
      const newest = model.of(uid)?.info ?? queued.info;
      model.requeue(uid, failure);
      queue.requeue(queued, failure, newest);
      return `requeue ${uid} ${failure.why} ${by.join()}`;
    };
    const touch = () => {
      const known = anyone();
      if (known === undefined) return 'nothing';
      const { info, at } = known;
      switch (upTo(6)) {
        case 0:
          model.delete(info.uid);
          assert.equal(queue.delete(info), true);
          return `delete ${info.uid}`;
        case 1:
          model.hold(info.uid);
          queue.hold(info.uid);
          return `hold ${info.uid}`;
        case 2:
          model.release(info.uid);
          queue.release(info.uid);
          return `release ${info.uid}`;
        case 3:
          model.activate(info.uid);
          queue.activate(info.uid);
          return `activate ${info.uid}`;
        case 4:
          if (!model.prioritized.delete(info.uid)) model.prioritized.add(info.uid);
          queue.reorder(info.uid);
          return `reorder ${info.uid}`;
        default:
          if (at === 'in-flight') Object.assign(known, { deaf: true });
          queue.assumed(info.uid);
          return `assumed ${info.uid}`;
      }
    };
    const step = () => {
      const dice = random();
      if (dice < 0.15) return newPod();
      if (dice < 0.4) {
        const queued = queue.pop();
        assert.equal(queued?.info.uid, model.pop());
        if (queued !== undefined) flying.push(queued);
        return `pop ${queued?.info.uid}`;
      }
      if (dice < 0.6) return land();
      if (dice < 0.7) return wake();
      if (dice < 0.8) return change();
      if (dice < 0.93) return touch();
      model.now += chance(0.1) ? 200_000 : upTo(4_000);
      assert.equal(queue.tick(), model.tick());
      return `tick ${model.now}`;
    };
    for (let n = 0; n < STEPS; n++) {
      told.push(step());
      const picture = [...queue.list()].map(({ pool, backoffUntil, queued: { info, attempts, refusals, errors, rejectedBy } }) =>
        [info.uid, pool, backoffUntil, attempts, refusals, errors, [...rejectedBy].toSorted().join()].join(' '),
      );
      assert.deepEqual(picture.toSorted(), model.picture, told.slice(-12).join('\n'));
      const count = (...at: string[]) => model.pods.filter((one) => at.includes(one.at)).length;
      const { sizes, inFlight } = queue;
      assert.deepEqual(
        { ...sizes, inFlight },
        {
          active: count('active'),
          backoff: count('refused', 'failed'),
          unschedulable: count('unschedulable', 'held'),
          gated: count('gated'),
          inFlight: count('in-flight'),
        },
      );
    }
    // Nobody is lost: when all are let go and time passes, everybody without gates comes out.
    for (const queued of flying) queue.requeue(queued, { why: 'error' }, model.of(queued.info.uid)?.info ?? queued.info);
    flying = [];
    for (const { info } of model.pods) queue.release(info.uid);
    model.now += 1_000_000;
    queue.tick();
    const out = new Set<string>();
    for (let next = queue.pop(); next !== undefined; next = queue.pop()) out.add(next.info.uid);
    assert.deepEqual(
      [...out].toSorted(),
      model.pods
        .filter(({ at }) => at !== 'gated')
        .map(({ info }) => info.uid)
        .toSorted(),
    );
  });
