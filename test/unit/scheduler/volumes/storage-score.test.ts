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
const two = [data, asks('logs', 'late', '30Gi')];
const twoClasses = [data, asks('logs', 'fast', '9Gi')];

const row = (why: string, points: number, world: World, shape = moreFree) => ({ why, points, world, shape });
const onTop = { maximumVolumeSize: '40Gi' };
const cases = [
  row('what is left of the storage', 70, { ...provisioned, capacities: [has('late', '100Gi')] }),
  row('the storage that is used, cut off to whole percents', 67, { ...provisioned, capacities: [has('late', '90Gi')] }),
  row('a shape that fills nodes', 24, { ...provisioned, capacities: [has('late', '100Gi')] }, moreFull),
  row('a point of the shape itself', 40, { ...provisioned, capacities: [has('late', '60Gi')] }, moreFull),
  row('a driver that does not tell', 0, { ...provisioned, drivers: [csiDriver('driver')] }),
  row('the largest volume bounds what fits, the capacity what is scored', 70, {
    ...provisioned,
    capacities: [has('late', '100Gi', onTop)],
  }),
  row('no capacity beside the largest volume counts as full', 0, { ...provisioned, capacities: [has('late', undefined, onTop)] }),
  row('two claims of a class share its storage', 40, { ...provisioned, claims: two, capacities: [has('late', '100Gi')] }),
  row('claims of a class that do not fit together count as full', 0, { ...provisioned, claims: two, capacities: [has('late', '50Gi')] }),
  row('the mean of the classes, rounded', 81, {
    classes: [csi('late'), csi('fast')],
    drivers,
    claims: twoClasses,
    capacities: [has('late', '100Gi'), has('fast', '100Gi')],
  }),
  row('a volume that is there', 25, { ...local, volumes: [fitting('pv', '40Gi')] }),
  row('volumes of a class are added up', 50, {
    ...local,
    claims: [data, asks('logs', 'late', '10Gi')],
    volumes: [fitting('x', '30Gi'), fitting('y', '50Gi')],
  }),
  row('beside a volume that is there, what is provisioned does not count', 25, {
    classes: [storageClass('late'), csi('fast')],
    drivers,
    claims: twoClasses,
    volumes: [fitting('pv', '40Gi')],
    capacities: [has('fast', '10Gi')],
  }),
  row('a claim that has its volume', 0, { claims: [claim('data').to('pv')], volumes: [volume('pv')] }),
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
