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

interface Case extends World {
  why: string;
  points: number;
  shape?: readonly ShapePoint[];
  names?: readonly string[];
}

const csi = (name: string) => storageClass(name, { provisioner: 'driver' });
const has = (className: string, more: Partial<CsiCapacity>) => csiCapacity(className, { nodeTopology: {}, ...more });
const provisioned: World = {
  classes: [csi('late')],
  drivers: [csiDriver('driver', true)],
  claims: [claim('data').class('late').asks('30Gi')],
};
const local = { classes: [storageClass('late')], claims: [claim('data').class('late').asks('30Gi')] };
const fitting = (name: string, size: string) => volume(name).class('late').size(size);

const cases: readonly Case[] = [
  { why: 'what is left of the storage', points: 70, ...provisioned, capacities: [has('late', { capacity: '100Gi' })] },
  {
    why: 'the storage that is used, cut off to whole percents',
    points: 67,
    ...provisioned,
    capacities: [has('late', { capacity: '90Gi' })],
  },
  { why: 'a shape that fills nodes', points: 24, shape: moreFull, ...provisioned, capacities: [has('late', { capacity: '100Gi' })] },
  { why: 'a point of the shape itself', points: 40, shape: moreFull, ...provisioned, capacities: [has('late', { capacity: '60Gi' })] },
  { why: 'a driver that does not tell', points: 0, ...provisioned, drivers: [csiDriver('driver')] },
  {
    why: 'the largest volume bounds what fits, the capacity what is scored',
    points: 70,
    ...provisioned,
    capacities: [has('late', { capacity: '100Gi', maximumVolumeSize: '40Gi' })],
  },
  {
    why: 'no capacity beside the largest volume counts as full',
    points: 0,
    ...provisioned,
    capacities: [has('late', { maximumVolumeSize: '40Gi' })],
  },
  {
    why: 'two claims of a class share its storage',
    points: 40,
    ...provisioned,
    claims: [claim('data').class('late').asks('30Gi'), claim('logs').class('late').asks('30Gi')],
    names: ['data', 'logs'],
    capacities: [has('late', { capacity: '100Gi' })],
  },
  {
    why: 'claims of a class that do not fit together count as full',
    points: 0,
    ...provisioned,
    claims: [claim('data').class('late').asks('30Gi'), claim('logs').class('late').asks('30Gi')],
    names: ['data', 'logs'],
    capacities: [has('late', { capacity: '50Gi' })],
  },
  {
    why: 'the mean of the classes, rounded',
    points: 81,
    ...provisioned,
    classes: [csi('late'), csi('fast')],
    claims: [claim('data').class('late').asks('30Gi'), claim('logs').class('fast').asks('9Gi')],
    names: ['data', 'logs'],
    capacities: [has('late', { capacity: '100Gi' }), has('fast', { capacity: '100Gi' })],
  },
  { why: 'a volume that is there', points: 25, ...local, volumes: [fitting('pv', '40Gi')] },
  {
    why: 'volumes of a class are added up',
    points: 50,
    ...local,
    claims: [claim('data').class('late').asks('30Gi'), claim('logs').class('late').asks('10Gi')],
    names: ['data', 'logs'],
    volumes: [fitting('x', '30Gi'), fitting('y', '50Gi')],
  },
  {
    why: 'beside a volume that is there, what is provisioned does not count',
    points: 25,
    classes: [storageClass('late'), csi('fast')],
    drivers: [csiDriver('driver', true)],
    claims: [claim('data').class('late').asks('30Gi'), claim('logs').class('fast').asks('9Gi')],
    names: ['data', 'logs'],
    volumes: [fitting('pv', '40Gi')],
    capacities: [has('fast', { capacity: '10Gi' })],
  },
  { why: 'a claim that has its volume', points: 0, claims: [claim('data').to('pv')], volumes: [volume('pv')] },
];

describe('points for the storage of a node:', () => {
  for (const { why, points, shape = moreFree, names = ['data'], ...world } of cases) {
    test(why, () => {
      const view = viewOf(world);
      const needs = volumeRules.needs(podInfoOf(podWith('p', ...names).build()), view);
      assert.ok(needs !== undefined && !('reasons' in needs), 'the pod needs storage');
      assert.equal(volumeRules.score(needs, node('node-a').build(), view, shape, 100), points);
    });
  }
});
