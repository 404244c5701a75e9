import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rightsText } from '../../../../cli/process/check-rights.ts';
import { schedulerRights } from '../../../../cli/scheduler/rights.ts';
import { parseSchedulerConfig } from '../../../../scheduler/config/parse.ts';

function asked(text: string): string[] {
  const read = parseSchedulerConfig(text);
  assert.ok(read.ok);
  const { config } = read;
  return rightsText(schedulerRights(config, config.leaderElection.enabled && config.leaderElection.lease)).split('; ');
}

const all = [
  'list, watch, get pods',
  'list, watch nodes',
  'list, watch namespaces',
  'list, watch services',
  'list, watch replicationcontrollers',
  'list, watch, get, patch persistentvolumes',
  'list, watch, get, patch persistentvolumeclaims',
  'list, watch replicasets.apps',
  'list, watch statefulsets.apps',
  'list, watch controllerrevisions.apps',
  'list, watch poddisruptionbudgets.policy',
  'list, watch deviceclasses.resource.k8s.io',
  'list, watch storageclasses.storage.k8s.io',
  'list, watch csinodes.storage.k8s.io',
  'list, watch csidrivers.storage.k8s.io',
  'list, watch csistoragecapacities.storage.k8s.io',
  'list, watch volumeattachments.storage.k8s.io',
  'create pods/binding',
  'patch pods/status',
  'create, patch events',
];
const lease = [
  'create leases.coordination.k8s.io in namespace kube-system',
  'get, update leases.coordination.k8s.io dkc-scheduler in namespace kube-system',
];
const alone = 'leaderElection: {enabled: false}\n';
const quiet = `${alone}preemption: {enabled: false}\n`;
const cases: { why: string; text: string; less?: string[]; more: string[] }[] = [
  { why: 'by default: who must go, and the lease', text: '', less: ['list, watch, get pods'], more: ['list, watch, get, delete pods', ...lease] }, // prettier-ignore
  { why: 'where nobody has to go', text: quiet, more: [] },
  { why: 'where room is kept for DaemonSets, and told to the next process', text: `${quiet}reservation: {daemonSets: true, persist: annotation}`, less: ['list, watch statefulsets.apps'], more: ['list, watch, patch statefulsets.apps', 'list, watch daemonsets.apps'] }, // prettier-ignore
  { why: 'where pods stand for it', text: `${quiet}reservation: {mirror: true, mirrorImage: i}`, less: ['list, watch, get pods'], more: ['list, watch, get, create, delete pods'] }, // prettier-ignore
  {
    why: 'where none is kept',
    text: `${quiet}reservation: {enabled: false, daemonSets: true, persist: annotation, mirror: true}`,
    more: [],
  },
];
for (const { why, text, less = [], more } of cases)
  test(`rights are asked for ${why}`, () => {
    assert.deepEqual(asked(text).toSorted(), [...all.filter((one) => !less.includes(one)), ...more].toSorted());
  });

test('where an extender binds all pods, nothing else has to', () => {
  const vital = (managed: string): boolean | undefined => {
    const read = parseSchedulerConfig(`extenders: [{urlPrefix: 'http://e', bindVerb: b${managed}}]`);
    return read.ok ? schedulerRights(read.config, false).find(({ subresource }) => subresource === 'binding')?.vital : undefined;
  };
  assert.deepEqual([vital(''), vital(', managedResources: [{name: a.b/c}]')], [false, true]);
});
