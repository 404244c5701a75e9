import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { plainFlags } from '../../../cli/args/args.ts';
import { controllersFlags } from '../../../cli/controllers/command.ts';
import { rightsFor } from '../../../cli/controllers/rights.ts';
import { controllersSettings } from '../../../cli/controllers/settings.ts';
import { rightsText, type Right } from '../../../cli/process/check-rights.ts';
import { schedulerRights } from '../../../cli/scheduler/rights.ts';
import type { DaemonSetOptions } from '../../../controllers/common/types.ts';
import type { KubeObject } from '../../../kube/api/object.ts';
import { parseSchedulerConfig } from '../../../scheduler/config/parse.ts';

type Rule = { apiGroups: string[]; resources: string[]; verbs: string[]; resourceNames?: string[] };
type Manifest = KubeObject & { rules?: Rule[]; data?: Record<string, string> };

/** What the blocks of a page hold: manifests, and other texts. */
function read(page: string): { manifests: Manifest[]; texts: string[] } {
  const blocks = [...readFileSync(`docs/${page}.md`, 'utf8').matchAll(/```yaml\n(.*?)```/gs)].map(([, block = '']) => block);
  const manifests = blocks.filter((block) => block.startsWith('apiVersion')).flatMap((block) =>
    parseAllDocuments(block).map((document) => {
      assert.deepEqual(document.errors, []);
      return document.toJS() as Manifest;
    }),
  );
  return { manifests, texts: blocks.filter((block) => !block.startsWith('apiVersion')) };
} // prettier-ignore

/** Holds the roles of a page to what is asked for: no right is missing, none too many. */
function holdRoles(manifests: readonly Manifest[], asked: readonly Right[]): void {
  const granted = manifests.flatMap(({ kind, metadata: { namespace = '' }, rules = [] }) =>
    rules.flatMap(({ apiGroups, resources, verbs, resourceNames = [''] }) =>
      apiGroups.flatMap((group) => resources.flatMap((resource) => verbs.flatMap((verb) => resourceNames.map((name) => [verb, group, resource, name, kind === 'Role' ? namespace : ''].join(' '))))),
    ),
  );
  const wanted = asked.map(({ verb, group, resource, subresource, name = '', namespace }) => [verb, group, subresource === undefined ? resource : `${resource}/${subresource}`, name, namespace].join(' '));
  assert.deepEqual(granted.toSorted(), wanted.toSorted());
} // prettier-ignore

test('docs/controllers.md gives the rights that the controllers ask for, and no others', () =>
  holdRoles(read('controllers').manifests, rightsFor(controllersSettings(plainFlags('controllers run', controllersFlags, [])))));

const { manifests, texts } = read('scheduler');
test('docs/scheduler.md grants what is asked for with everything on, and no more', () => {
  const all = parseSchedulerConfig('reservation: {daemonSets: true, persist: annotation, mirror: true, mirrorImage: pause}');
  assert.ok(all.ok);
  holdRoles(manifests, schedulerRights(all.config, all.config.leaderElection.lease));
});

test('configurations in docs/scheduler.md are right, and have no effect that is not meant', () => {
  const configurations = [...texts, ...manifests.flatMap(({ data = {} }) => Object.values(data))];
  assert.equal(configurations.length, 4);
  for (const text of configurations) {
    const parsed = parseSchedulerConfig(text);
    assert.deepEqual(parsed.ok ? parsed.warnings : parsed.problems, [], text);
  }
});

function ofScheduler(text: string): string[] {
  const parsed = parseSchedulerConfig(text);
  assert.ok(parsed.ok);
  const { config } = parsed;
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
const least = ofScheduler(quiet);
for (const { why, text, less = [], more } of cases)
  test(`rights are asked for ${why}`, () => {
    assert.deepEqual(ofScheduler(text).toSorted(), [...least.filter((one) => !less.includes(one)), ...more].toSorted());
  });

test('where an extender binds all pods, nothing else has to', () => {
  const vital = (managed: string): boolean | undefined => {
    const parsed = parseSchedulerConfig(`extenders: [{urlPrefix: 'http://e', bindVerb: b${managed}}]`);
    return parsed.ok ? schedulerRights(parsed.config, false).find(({ subresource }) => subresource === 'binding')?.vital : undefined;
  };
  assert.deepEqual([vital(''), vital(', managedResources: [{name: a.b/c}]')], [false, true]);
});

const controllersLease = { namespace: 'kube-system', name: 'dkc-controllers' };

type Asked = Parameters<typeof rightsFor>[0];
const ofControllers = (over: Partial<Asked>): Right[] =>
  rightsFor({ controllers: ['daemonset'], daemonSet: {}, statefulSet: {}, rollout: {}, leaderElect: false, ...over });
const pods = (daemonSet: DaemonSetOptions): string =>
  rightsText(ofControllers({ daemonSet }).filter(({ resource }) => resource === 'pods'));
const wanted: { why: string; daemonSet: DaemonSetOptions; says: string }[] = [
  { why: 'in all namespaces', daemonSet: {}, says: 'list, watch, create, patch, delete pods' },
  { why: 'in one', daemonSet: { namespace: 'a' }, says: 'list, watch, create, patch, delete pods in namespace a' },
  { why: 'in one, with a look at all for room', daemonSet: { namespace: 'a', placement: 'controller' }, says: 'list, watch pods; create, patch, delete pods in namespace a' }, // prettier-ignore
];
for (const { why, daemonSet, says } of wanted) test(`pods are asked for ${why}`, () => assert.equal(pods(daemonSet), says));

test('nodes are asked for in the whole cluster, and a lease only where there is one', () => {
  const text = rightsText(ofControllers({ daemonSet: { namespace: 'a' }, leaderElect: controllersLease }));
  assert.match(text, /; list, watch nodes; .*get, update leases\.coordination\.k8s\.io dkc-controllers in namespace kube-system$/);
  assert.doesNotMatch(rightsText(ofControllers({})), /leases/);
});

test('rollouts ask for the nodes of the cluster, and for ConfigMaps in the namespace of the payloads alone', () => {
  const text = rightsText(ofControllers({ controllers: ['rollout'], rollout: { configMapNamespace: 'a' } }));
  assert.match(text, /list, watch, create, patch nodeconfigs\.dkc\.dev; get, list, watch, patch nodes; /);
  assert.match(text, /; list, watch, create, patch, delete configmaps in namespace a; list, create, patch events in namespace default$/);
});
