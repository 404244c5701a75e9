import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fleetFigures } from '../../../../bench/daemonset-fleet.ts';
import type { FleetTurn } from '../../../../bench/daemonset-fleet.ts';
import { growthFigures } from '../../../../bench/daemonset-growth.ts';
import { judged, valueOf } from '../../../../bench/figure.ts';

const costs = (factor: number) => ({
  'node heartbeat': factor,
  'node label of no set': 2 * factor,
  'pod status': 3 * factor,
  'node label of one set': 4 * factor,
});

test('figures of a fleet are of the two turns, per pod where it says so', () => {
  const turn = (user: FleetTurn['user'], factor: number): FleetTurn => ({
    user,
    create: { doneMs: 60_000 * factor, wallMs: 61_000, cpuMs: 9_000 * factor, calls: new Map([['create pods', 600 * factor]]) },
    ready: { doneMs: 1, wallMs: 1, cpuMs: 7_000 * factor, calls: new Map() },
    usage: { cpuMs: 0, rssMb: 200 * factor, peakMb: 300 * factor },
    costs: costs(factor),
  });
  const figures = fleetFigures([turn('dkc', 1), turn('kube-controller-manager', 2)], { nodes: 200, sets: 3, hollow: false });
  assert.deepEqual(figures.map(({ ours }) => valueOf(ours)), [60, 9, 1, 7, 300, 200, 1, 2, 3, 4]); // prettier-ignore
  assert.deepEqual(new Set(figures.map((figure) => judged(figure).value)), new Set([0.5]));
  assert.match(figures[0]?.what ?? '', /^200 nodes, 3 sets, no kubelets: until 600 pods/);
});

test('growth is the median at the large fleet beside that at the small one', () => {
  const rounds = (...factors: number[]) =>
    Object.fromEntries(Object.keys(costs(1)).map((name, n) => [name, factors.map((factor) => factor * (n + 1))])) as never;
  const figures = growthFigures({ nodes: 10_000, costs: rounds(1, 3, 9) }, { nodes: 1_000, costs: rounds(2, 1, 4) });
  assert.deepEqual(figures.map((figure) => judged(figure)), costsOf(4, { value: 1.5, met: false })); // prettier-ignore
});

const costsOf = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);
