import assert from 'node:assert/strict';
import { test } from 'node:test';
import { workFigures } from '../../../../bench/daemonset.ts';
import type { Turn } from '../../../../bench/daemonset/turn.ts';
import { judged, valueOf } from '../../../../bench/figure.ts';

const turn = (user: Turn['user'], factor: number): Turn => {
  const calls = new Map([
    ['create pods', 1_000 * factor],
    ['create events', 25],
    ['list nodes', 4],
  ]);
  const part = { doneMs: 8_000 * factor, wallMs: 9_000, cpuMs: 300 * factor, calls };
  return { user, first: part, create: part, update: part, usage: { cpuMs: 0, rssMb: 90 * factor, peakMb: 100 } };
};
const turns = [turn('dkc', 1), turn('kube-controller-manager', 2), turn('kube-controller-manager', 4), turn('dkc', 3), turn('dkc', 2), turn('kube-controller-manager', 8)]; // prettier-ignore

test('every figure is of the medians of both, in plain units', () => {
  const figures = workFigures(turns, { all: 1_000, some: 500 });
  assert.deepEqual(figures.map(({ ours }) => valueOf(ours)), [16, 600, 16, 600, 2, 16, 600, 2, 180]); // prettier-ignore
  assert.deepEqual(new Set(figures.map((figure) => judged(figure).value)), new Set([0.5]));
  assert.ok(figures.every((figure) => judged(figure).met));
});
