import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judged, valueOf } from '../../../../bench/figure.ts';
import { schedulerFigures } from '../../../../bench/scheduler/figures.ts';
import { benchPod, chosenWorkloads, workloads, type PodShape } from '../../../../bench/scheduler/pods.ts';
import type { Who } from '../../../../bench/scheduler/subject.ts';
import type { Backlog, Turn } from '../../../../bench/scheduler/turn.ts';

const START = 1_000_000;
const usage = { cpuMs: 900, rssMb: 100, peakMb: 120 };

/** A hundred pods, one created every `stepMs`, each bound `waitMs` after. */
const turn = (who: Who, stepMs: number, waitMs: number, workload: Turn['workload'] = 'basic'): Turn => {
  const times = Array.from({ length: 100 }, (_, n) => ({ seen: START + n * stepMs, bound: START + n * stepMs + waitMs }));
  return { who, workload, times, fromMs: START, createdMs: 100 * stepMs, cpuMs: 10 * waitMs, usage };
};
const backlog = (who: Who, stepMs: number): Backlog => ({ ...turn(who, stepMs, 20), startedMs: START - 980 });

test('figures are of each turn, and of the median turn of both', () => {
  const turns = [turn('dkc', 10, 10), turn('kube-scheduler', 10, 1_010), turn('kube-scheduler', 10, 1_010)];
  const figures = schedulerFigures(turns, [backlog('dkc', 10), backlog('kube-scheduler', 20)], 50);
  const found = figures.map(({ ours, against }) => [Math.round(valueOf(ours)), against && Math.round(valueOf(against))]);
  assert.deepEqual(found, [
    [100, 50], // pods/s
    [10, 1_010],
    [10, 1_010],
    [1_000, 101_000],
    [100, 100],
    [50, undefined], // created alone: 100 pods in 1 s and in 2 s
    [100, 50],
    [2, 3],
    [900, 900],
  ]);
});

test('plain pods and those that ask something of nodes or pods have aims, the others are only measured', () => {
  const aimed = (workload: Turn['workload']): number =>
    schedulerFigures([turn('dkc', 1, 1, workload), turn('kube-scheduler', 1, 1, workload)], [], 50).filter((one) => judged(one).met !== undefined).length; // prettier-ignore
  assert.equal(aimed('basic'), 3);
  assert.deepEqual((['spread', 'preemption', 'volumes'] as const).map(aimed), [3, 0, 0]);
});

test('workloads are chosen by name', () => {
  assert.deepEqual(chosenWorkloads('spread, basic'), ['spread', 'basic']);
  assert.equal(chosenWorkloads('').length, Object.keys(workloads).length);
  assert.throws(() => chosenWorkloads('basics'), RangeError);
});

test('pods that stand there leave room for the warm-up, and none for those that come', () => {
  const { shape, warmUp, standing } = workloads.preemption;
  const cpu = (of: PodShape): number => {
    const text = benchPod('n', 'p', 0, of).spec?.containers[0]?.resources?.requests?.['cpu'] ?? '';
    return text.endsWith('m') ? Number(text.slice(0, -1)) : Number(text) * 1_000;
  };
  const nodes = ['a'];
  const left = 8_000 - standing.count(1) * cpu(standing.shape(0, nodes));
  assert.ok(20 * cpu(warmUp()) <= left);
  assert.ok(cpu(shape()) > left);
});
