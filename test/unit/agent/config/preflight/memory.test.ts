import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HostFacts } from '../../../../../agent/config/contract.ts';
import { preflighted } from '../../../../support/preflighted.ts';

const HUGE = 'reservedMemory: [{limits: {memory: 100Mi, hugepages-2Mi: 4Mi}}]';
const STATIC = 'resolvConf: ""\nmemoryManagerPolicy: Static\n';
const sum = 'reservedMemory memory-manager-sum';
const memory: { why: string; text: string; errors?: string[]; warnings?: string[]; host?: HostFacts; args?: string[] }[] = [
  { why: "counts evictionHard's default", text: 'reservedMemory: [{limits: {memory: 100Mi}}]' },
  { why: 'refuses a sum that lacks it', text: 'kubeReserved: {memory: 1Gi}\nreservedMemory: [{limits: {memory: 1Gi}}]', errors: [sum] },
  {
    why: 'adds up NUMA nodes, kubeReserved, systemReserved and evictionHard in any spelling',
    text: 'kubeReserved: {memory: 1Gi}\nsystemReserved: {memory: "1048576"}\nevictionHard: {memory.available: 1024Ki}\nreservedMemory: [{limits: {memory: 0.5Gi}}, {numaNode: 1, limits: {memory: 514Mi}}]',
  },
  {
    why: 'counts no evictionHard that is off',
    text: 'kubeReserved: {memory: 1Gi}\nevictionHard: {memory.available: 0%}\nreservedMemory: [{limits: {memory: 1Gi}}]',
  },
  {
    why: 'counts no evictionHard without memory',
    text: 'kubeReserved: {memory: 1Gi}\nevictionHard: {}\nreservedMemory: [{limits: {memory: 1Gi}}]',
  },
  {
    why: 'counts the default that is merged',
    text: 'mergeDefaultEvictionSettings: true\nevictionHard: {}\nreservedMemory: [{limits: {memory: 100Mi}}]',
  },
  {
    why: 'warns of a share of an unknown memory',
    text: 'evictionHard: {memory.available: 10%}\nreservedMemory: [{limits: {memory: 100Mi}}]',
    host: { numaNodes: [0, 1] },
    warnings: [sum],
  },
  {
    why: 'takes the right share of the memory',
    text: 'evictionHard: {memory.available: 50%}\nreservedMemory: [{limits: {memory: 2Gi}}]',
    host: { numaNodes: [0], memoryBytes: 4n << 30n },
  },
  {
    why: 'refuses a wrong share',
    text: 'evictionHard: {memory.available: 25%}\nreservedMemory: [{limits: {memory: 2Gi}}]',
    host: { numaNodes: [0], memoryBytes: 4n << 30n },
    errors: [sum],
  },
  {
    why: 'heeds the switch that ignores eviction',
    text: 'kubeReserved: {memory: 1Gi}\nreservedMemory: [{limits: {memory: 1Gi}}]',
    args: ['--kubeconfig=k', '--experimental-allocatable-ignore-eviction'],
  },
  { why: 'cannot tell whether there are huge pages', text: HUGE, warnings: ['reservedMemory huge-pages'] },
  { why: 'takes huge pages that are there', text: HUGE, host: { numaNodes: [0], hugePages: ['hugepages-2Mi'] } },
  { why: 'refuses huge pages that are not', text: HUGE, host: { numaNodes: [0], hugePages: [] }, errors: ['reservedMemory huge-pages'] },
  {
    why: 'keeps to what its state file was written with',
    text: 'reservedMemory: [{limits: {memory: 100Mi}}]',
    host: { numaNodes: [0], memoryManagerState: { policyName: 'Static', reserved: { 0: 100n << 20n } } },
  },
  {
    why: 'refuses a NUMA node that is not there',
    text: 'reservedMemory: [{numaNode: 1, limits: {memory: 100Mi}}]',
    host: { numaNodes: [0] },
    errors: ['reservedMemory numa'],
  },
  { why: 'wants reservedMemory', text: '', errors: ['memoryManagerPolicy memory-manager-reserved'] },
];
for (const { why, text, errors = [], warnings = [], host = { numaNodes: [0, 1] }, args } of memory) {
  test(`the memory manager's policy Static ${why}`, () =>
    assert.deepEqual(preflighted(STATIC + text, host, '1.34', args), { errors, warnings }));
}

test('reservedMemory is looked at by the policy Static only', () => {
  assert.deepEqual(preflighted('resolvConf: ""\nreservedMemory: [{numaNode: 7, limits: {memory: 1Gi}}]', { numaNodes: [0] }), {
    errors: [],
    warnings: [],
  });
});
