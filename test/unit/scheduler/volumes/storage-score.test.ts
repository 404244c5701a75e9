import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ShapePoint } from '../../../../scheduler/config/config.ts';
import { podInfoOf } from '../../../../scheduler/pod/pod-info.ts';
import type { CsiCapacity } from '../../../../scheduler/types.ts';
import { volumeRules } from '../../../../scheduler/volumes/rules.ts';
import { node } from '../builders.ts';
import { claim, csiCapacity, csiDriver, podWith, storageClass, viewOf, volume, type World } from './storage-builders.ts';

/** Of kube-scheduler with StorageCapacityScoring. */
const moreFree: readonly ShapePoint[] = [
  { utilization: 0, score: 100 },
  { utilization: 100, score: 0 },
];
const moreFull: readonly ShapePoint[] = [
  { utilization: 0, score: 0 },
  { utilization: 50, score: 40 },
  { utilization: 100, score: 100 },
];

const csi = (name: string) => storageClass(name, { provisioner: 'driver' });
const has = (className: string, capacity: string | undefined, more: Partial<CsiCapacity> = {}) =>
  csiCapacity(className, { nodeTopology: {}, ...(capacity !== undefined && { capacity }), ...more });
const asks = (name: string, className: string, storage: string) => claim(name).class(className).asks(storage);
const data = asks('data', 'late', '30Gi');
const drivers = [csiDriver('driver', true)];
const provisioned: World = { classes: [csi('late')], drivers, claims: [data] };
const local = { classes: [storageClass('late')], claims: [data] };
const fitting = (name: string, size: string) => volume(name).class('late').size(size);

const twoClasses = [data, asks('logs', 'fast', '9Gi')];

const row = (why: string, points: number, world: World, shape = moreFree) => ({ why, points, world, shape });
const onTop = { maximumVolumeSize: '40Gi' };
const cases = [
  row('what is left of the storage', 70, { ...provisioned, capacities: [has('late', '100Gi')] }),
  row('a shape that fills nodes', 24, { ...provisioned, capacities: [has('late', '100Gi')] }, moreFull),
  row('the largest volume bounds what fits, the capacity what is scored', 70, {
    ...provisioned,
    capacities: [has('late', '100Gi', onTop)],
  }),
  row('the mean of the classes, rounded', 81, {
    classes: [csi('late'), csi('fast')],
    drivers,
    claims: twoClasses,
    capacities: [has('late', '100Gi'), has('fast', '100Gi')],
  }),
  row('a volume that is there', 25, { ...local, volumes: [fitting('pv', '40Gi')] }),
];

describe('points for the storage of a node:', () => {
  for (const { why, points, shape, world } of cases)
    test(why, () => {
      const view = viewOf(world);
      const names = world.claims?.map((one) => one.build().metadata.name ?? '') ?? [];
      const needs = volumeRules.needs(podInfoOf(podWith('p', ...names).build()), view);
      assert.ok(needs !== undefined && !('reasons' in needs), 'the pod needs storage');
      assert.equal(volumeRules.score(needs, node('node-a').build(), view, shape, 100), points);
    });
});
