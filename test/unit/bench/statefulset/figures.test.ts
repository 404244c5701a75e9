import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judged, valueOf } from '../../../../bench/figure.ts';
import { setFigures } from '../../../../bench/statefulset.ts';
import type { Turn } from '../../../../bench/statefulset/turn.ts';

const shapes = [
  { sets: 10, replicas: 10, podManagementPolicy: 'OrderedReady' },
  { sets: 1, replicas: 50, podManagementPolicy: 'Parallel' },
] as const;

const turn = (user: Turn['user'], factor: number): Turn => {
  const part = (calls: number) => ({
    doneMs: 8_000 * factor,
    wallMs: 9_000,
    cpuMs: 300 * factor,
    calls: new Map([['create pods', calls * factor], ['get statefulsets', calls * factor], ['create events', 25]]), // prettier-ignore
  });
  const parts = (calls: number) => ({ create: part(calls), update: part(2 * calls), remove: part(0) });
  return { user, first: part(1), parts: [parts(100), parts(50)], usage: { cpuMs: 0, rssMb: 90 * factor, peakMb: 100 } };
};
const turns = [turn('dkc', 1), turn('kube-controller-manager', 2), turn('kube-controller-manager', 8), turn('dkc', 3)];

test('every figure is of the medians of both, and calls are per pod, without events', () => {
  const figures = setFigures(turns, shapes);
  const life = [8, 300, 2, 8, 300, 4, 8, 300];
  assert.deepEqual(figures.map(({ ours }) => valueOf(ours)), [8, 300, ...life, ...life, 90]); // prettier-ignore
  assert.deepEqual(figures.map(({ against }) => against && valueOf(against)), [8, 300, ...life, ...life, 90].map((value) => 2 * value)); // prettier-ignore
});

test('time and processor time of making and updating have an aim, and nothing else', () => {
  const met = setFigures(turns, shapes).map((figure) => judged(figure).met);
  const life = [true, true, undefined, true, true, undefined, undefined, undefined];
  assert.deepEqual(met, [true, true, ...life, ...life, undefined]);
});
