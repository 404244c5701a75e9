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

const lease = [
  'create leases.coordination.k8s.io in namespace kube-system',
  'get, update leases.coordination.k8s.io dkc-scheduler in namespace kube-system',
];
const quiet = 'leaderElection: {enabled: false}\npreemption: {enabled: false}\n';
const cases: { why: string; text: string; less?: string[]; more: string[] }[] = [
  { why: 'by default: who must go, and the lease', text: '', less: ['list, watch, get pods'], more: ['list, watch, get, delete pods', ...lease] }, // prettier-ignore
  { why: 'where room is kept for DaemonSets, and told to the next process', text: `${quiet}reservation: {daemonSets: true, persist: annotation}`, less: ['list, watch statefulsets.apps'], more: ['list, watch, patch statefulsets.apps', 'list, watch daemonsets.apps'] }, // prettier-ignore
  { why: 'where pods stand for it', text: `${quiet}reservation: {mirror: true, mirrorImage: i}`, less: ['list, watch, get pods'], more: ['list, watch, get, create, delete pods'] }, // prettier-ignore
  { why: 'where none is kept', text: `${quiet}reservation: {enabled: false, daemonSets: true, persist: annotation, mirror: true}`, more: [] }, // prettier-ignore
];
const least = asked(quiet);
for (const { why, text, less = [], more } of cases)
  test(`rights are asked for ${why}`, () => {
    assert.deepEqual(asked(text).toSorted(), [...least.filter((one) => !less.includes(one)), ...more].toSorted());
  });

test('where an extender binds all pods, nothing else has to', () => {
  const vital = (managed: string): boolean | undefined => {
    const read = parseSchedulerConfig(`extenders: [{urlPrefix: 'http://e', bindVerb: b${managed}}]`);
    return read.ok ? schedulerRights(read.config, false).find(({ subresource }) => subresource === 'binding')?.vital : undefined;
  };
  assert.deepEqual([vital(''), vital(', managedResources: [{name: a.b/c}]')], [false, true]);
});
