import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { controllersFlags } from '../../../../cli/controllers/command.ts';
import { rightsFor } from '../../../../cli/controllers/rights.ts';
import { controllersSettings } from '../../../../cli/controllers/settings.ts';
import { rightsText, type Right } from '../../../../cli/process/check-rights.ts';
import type { DaemonSetOptions } from '../../../../controllers/common/types.ts';
import { plainFlags } from '../../../../cli/args/args.ts';
import type { KubeObject } from '../../../../kube/api/object.ts';

const page = await readFile(new URL('../../../../docs/controllers.md', import.meta.url), 'utf8');
const manifests = [...page.matchAll(/```yaml\n(.*?)```/gs)].flatMap(([, block = '']) =>
  parseAllDocuments(block).map((document) => {
    assert.deepEqual(document.errors, []);
    return document.toJS() as KubeObject & { rules?: Rule[] };
  }),
);

type Rule = { apiGroups: string[]; resources: string[]; verbs: string[]; resourceNames?: string[] };

test('docs/controllers.md gives the rights that the controllers ask for, and no others', () => {
  const given = manifests.flatMap(({ kind, metadata, rules = [] }) =>
    rules.flatMap(({ apiGroups, resources, verbs, resourceNames: [name] = [] }) =>
      verbs.map((verb) => [verb, apiGroups.join(), resources.join(), name ?? '', kind === 'Role' ? metadata.namespace : ''].join(' ')),
    ),
  );
  const asked = rightsFor(controllersSettings(plainFlags('controllers run', controllersFlags, []))).map(
    ({ verb, group, resource, subresource, name = '', namespace }) =>
      [verb, group, subresource === undefined ? resource : `${resource}/${subresource}`, name, namespace].join(' '),
  );
  assert.deepEqual(given.toSorted(), asked.toSorted());
});

const lease = { namespace: 'kube-system', name: 'dkc-controllers' };

type Asked = Parameters<typeof rightsFor>[0];
const asked = (over: Partial<Asked>): Right[] =>
  rightsFor({ controllers: ['daemonset'], daemonSet: {}, statefulSet: {}, rollout: {}, leaderElect: false, ...over });
const pods = (daemonSet: DaemonSetOptions): string => rightsText(asked({ daemonSet }).filter(({ resource }) => resource === 'pods'));
const wanted: { why: string; daemonSet: DaemonSetOptions; says: string }[] = [
  { why: 'in all namespaces', daemonSet: {}, says: 'list, watch, create, patch, delete pods' },
  { why: 'in one', daemonSet: { namespace: 'a' }, says: 'list, watch, create, patch, delete pods in namespace a' },
  { why: 'in one, with a look at all for room', daemonSet: { namespace: 'a', placement: 'controller' }, says: 'list, watch pods; create, patch, delete pods in namespace a' }, // prettier-ignore
];
for (const { why, daemonSet, says } of wanted) test(`pods are asked for ${why}`, () => assert.equal(pods(daemonSet), says));

test('nodes are asked for in the whole cluster, and a lease only where there is one', () => {
  const text = rightsText(asked({ daemonSet: { namespace: 'a' }, leaderElect: lease }));
  assert.match(text, /; list, watch nodes; .*get, update leases\.coordination\.k8s\.io dkc-controllers in namespace kube-system$/);
  assert.doesNotMatch(rightsText(asked({})), /leases/);
});

test('rollouts ask for the nodes of the cluster, and for ConfigMaps in the namespace of the payloads alone', () => {
  const text = rightsText(asked({ controllers: ['rollout'], rollout: { configMapNamespace: 'a' } }));
  assert.match(text, /list, watch, create, patch nodeconfigs\.dkc\.dev; get, list, watch, patch nodes; /);
  assert.match(text, /; list, watch, create, patch, delete configmaps in namespace a; list, create, patch events in namespace default$/);
});
