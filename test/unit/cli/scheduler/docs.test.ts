import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { rightsText } from '../../../../cli/process/check-rights.ts';
import { schedulerRights } from '../../../../cli/scheduler/rights.ts';
import { parseSchedulerConfig } from '../../../../scheduler/config/parse.ts';
import type { KubeObject } from '../../../../kube/api/object.ts';

const page = await readFile(new URL('../../../../docs/scheduler.md', import.meta.url), 'utf8');
const blocks = [...page.matchAll(/```yaml\n(.*?)```/gs)].map(([, block = '']) => block);
const isManifest = (block: string): boolean => block.startsWith('apiVersion');

type Rule = { apiGroups: string[]; resources: string[]; verbs: string[]; resourceNames?: string[] };
const manifests = blocks.filter(isManifest).flatMap((block) =>
  parseAllDocuments(block).map((document) => {
    assert.deepEqual(document.errors, []);
    return document.toJS() as KubeObject & { rules?: Rule[]; data?: Record<string, string> };
  }),
);

test('docs/scheduler.md grants what is asked for with everything on, and no more', () => {
  const read = parseSchedulerConfig('reservation: {daemonSets: true, persist: annotation, mirror: true, mirrorImage: pause}');
  assert.ok(read.ok);
  const asked = schedulerRights(read.config, read.config.leaderElection.lease).map(
    ({ verb, group, resource, subresource, name = '' }) =>
      `${verb} ${group}/${resource}${subresource === undefined ? '' : `/${subresource}`} ${name}`,
  );
  const granted = manifests
    .filter(({ kind }) => kind === 'ClusterRole' || kind === 'Role')
    .flatMap(({ rules = [] }) =>
      rules.flatMap(({ apiGroups, resources, verbs, resourceNames = [''] }) =>
        apiGroups.flatMap((group) =>
          resources.flatMap((resource) => verbs.flatMap((verb) => resourceNames.map((name) => `${verb} ${group}/${resource} ${name}`))),
        ),
      ),
    );
  assert.deepEqual(granted.toSorted(), asked.toSorted());
});

test('configurations in docs/scheduler.md are right, and have no effect that is not meant', () => {
  const texts = [...blocks.filter((block) => !isManifest(block)), ...manifests.flatMap(({ data = {} }) => Object.values(data))];
  assert.equal(texts.length, 4);
  for (const text of texts) {
    const read = parseSchedulerConfig(text);
    assert.deepEqual(read.ok ? read.warnings : read.problems, [], text);
  }
});

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
