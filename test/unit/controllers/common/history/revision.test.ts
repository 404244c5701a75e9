import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { contentHash, daemonSetHistory, HASH_LABEL, safeHash } from '../../../../../controllers/common/history/contract.ts';
import { planHistory } from '../../../../../controllers/common/history/plan.ts';
import { newRevision, revisionData, sameData, templateOf } from '../../../../../controllers/common/history/revision.ts';
import { dnsSubdomainProblems } from '../../../../../kube/api/names.ts';
import { applyStrategicPatch, strategicRules } from '../../../../../apiserver/patch/strategic-patch.ts';
import { goJson } from '../../../../../kube/api/json.ts';
import { daemonSets, statefulSets } from '../../../../../kube/api/object.ts';
import { facts, owner, revision, stepsOf, template } from './notation.ts';

/** As kube-controller-manager 1.20 stores it: all that the server fills in, fields in the order of the alphabet, times that are not set as null. */
const storedByManager = `{"spec":{"template":{"$patch":"replace","metadata":{"creationTimestamp":null,"labels":{"app":"agent"}},"spec":{"containers":[
{"env":[{"name":"NODE","valueFrom":{"fieldRef":{"apiVersion":"v1","fieldPath":"spec.nodeName"}}}],"image":"agent:1","imagePullPolicy":"IfNotPresent",
"name":"agent","resources":{"limits":{"cpu":"100m"}},"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File",
"volumeMounts":[{"mountPath":"/x","name":"x"}]}],"dnsPolicy":"ClusterFirst","restartPolicy":"Always","schedulerName":"default-scheduler",
"securityContext":{},"terminationGracePeriodSeconds":30,"volumes":[{"emptyDir":{},"name":"x"},{"ephemeral":{"volumeClaimTemplate":{"metadata":
{"creationTimestamp":null},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}},"name":"y"}]}}}}`;

const parsed = (text: string): unknown => JSON.parse(text);

/** The same as a newer server answers it: fields in another order, and none that is null. */
function served(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(served);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).filter(([, below]) => below !== null);
  return Object.fromEntries(fields.toReversed().map(([key, below]) => [key, served(below)]));
}
const { $patch: _patch, ...servedTemplate } = Object(served(parsed(storedByManager))).spec.template as Record<string, unknown>;

const contents = [
  { why: 'word for word', with: (text: string) => text, same: true },
  { why: 'with the time left out', with: (text: string) => text.replaceAll('"creationTimestamp":null,', ''), same: true },
  { why: 'with another image', with: (text: string) => text.replace('agent:1', 'agent:2'), same: false },
  { why: 'with a field more', with: (text: string) => text.replace('"dnsPolicy"', '"hostPID":true,"dnsPolicy"'), same: false },
  { why: 'with an empty list more', with: (text: string) => text.replace('"dnsPolicy"', '"tolerations":[],"dnsPolicy"'), same: false },
  { why: 'without the mark that it replaces', with: (text: string) => text.replace('"$patch":"replace",', ''), same: false },
  { why: 'with more beside the template', with: (text: string) => text.replace('{"spec":{', '{"spec":{"paused":true,'), same: false },
];
for (const { why, with: change, same } of contents)
  test(`a manager's revision ${why} is ${same ? '' : 'not '}of the template that is served`, () => {
    const data = parsed(change(storedByManager));
    assert.equal(sameData(data, revisionData(servedTemplate)), same);
    assert.equal(sameData(revisionData(servedTemplate), data), same);
    const revisions = [{ ...revision('ds-5f6b8c#3=x'), data: Object(data) }];
    const found = planHistory({ ...facts('x', ''), template: servedTemplate, revisions }, daemonSets, daemonSetHistory);
    assert.equal(stepsOf(found), same ? '' : 'create #4');
  });

test('a template that says how to patch is replaced all the same', () => {
  assert.deepEqual(revisionData({ $patch: 'merge', spec: {} }), { spec: { template: { $patch: 'replace', spec: {} } } });
});

// Keys such as a template could have, and some that only look harmless.
const json = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.string(),
    fc.integer(),
    fc.boolean(),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.oneof(fc.string(), fc.constantFrom('constructor', 'toString', '10', '9')), tie('value'), { maxKeys: 5 }),
  ),
})).value;

test('order of fields and nulls change neither content nor the hash of it', () => {
  fc.assert(
    fc.property(json, fc.option(fc.nat(), { nil: undefined }), (value, count) => {
      assert.equal(contentHash(served(value), count), contentHash(value, count));
      assert.equal(sameData(served(value), value), true);
    }),
  );
});

test('a new revision has labels of the template, annotations of the owner, and the owner for controller', () => {
  const made = newRevision(owner, daemonSets, { template: template('a'), collisionCount: undefined }, 4, daemonSetHistory);
  const hash = contentHash(revisionData(template('a')));
  assert.deepEqual(made, {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: {
      name: `ds-${hash}`,
      namespace: 'ns',
      labels: { app: 'x', [HASH_LABEL]: hash },
      annotations: { note: 'of the set', 'example.com/a': 'b' },
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'ds', uid: 'ds-uid', controller: true, blockOwnerDeletion: true },
      ],
    },
    data: { spec: { template: { $patch: 'replace', ...template('a') } } },
    revision: 4,
  });
});

test('a hash in the labels of the template does not stay', () => {
  const copied = { ...template('a'), metadata: { labels: { [HASH_LABEL]: 'of another' } } };
  const made = newRevision(owner, daemonSets, { template: copied, collisionCount: 3 }, 1, daemonSetHistory);
  assert.deepEqual(made.metadata.labels, { [HASH_LABEL]: contentHash(revisionData(copied), 3) });
});

test('a template without labels gives a revision with the hash alone', () => {
  for (const bare of [{}, { metadata: null }, { metadata: { labels: null } }]) {
    const made = newRevision(owner, daemonSets, { template: bare, collisionCount: undefined }, 1, daemonSetHistory);
    assert.deepEqual(Object.keys(made.metadata.labels ?? {}), [HASH_LABEL]);
  }
});

for (const name of ['x'.repeat(253), `${'x'.repeat(222)}.${'x'.repeat(30)}`, 'x'])
  test(`the name of a revision of an owner of ${name.length} letters fits and ends in the hash`, () => {
    const long = { metadata: { ...owner.metadata, name } };
    const { metadata } = newRevision(long, daemonSets, { template: template('a'), collisionCount: undefined }, 1, daemonSetHistory);
    assert.deepEqual(dnsSubdomainProblems(metadata.name ?? ''), []);
    assert.ok(metadata.name?.endsWith(`-${metadata.labels?.[HASH_LABEL]}`));
    assert.ok(metadata.name?.startsWith(name.slice(0, 220)));
  });

test('an owner that no server has gets no revision', () => {
  assert.throws(() => newRevision({ metadata: { name: 'ds' } }, daemonSets, { template: {}, collisionCount: 0 }, 1, daemonSetHistory), /without uid/); // prettier-ignore
});

test('a revision by kube-controller-manager 1.20 gives its template word for word, and that gives the revision back', () => {
  const stored = storedByManager.replaceAll('\n', '');
  const template = templateOf({ data: Object(parsed(stored)) });
  assert.equal(goJson(template), goJson(Object(parsed(stored)).spec.template).replace('"$patch":"replace",', ''));
  assert.match(goJson(template), /^{"metadata":{"creationTimestamp":null,"labels"/);
  const live = { ...owner, spec: { replicas: 7, template: servedTemplate }, status: { replicas: 6 } };
  const back = Object(applyStrategicPatch(live, parsed(stored), strategicRules(statefulSets.kind)));
  assert.deepEqual([back.spec.replicas, back.status], [7, { replicas: 6 }]);
  assert.equal(sameData({ template: back.spec.template }, { template }), true);
  assert.equal(goJson(revisionData(template ?? {})), stored);
});

test('what keeps something else keeps no template', () => {
  for (const data of [undefined, 'text', { spec: null }, { spec: { template: [] } }, { spec: { template: { spec: {} } } }])
    assert.equal(templateOf({ data: data as never }), undefined);
});

// Computed by other means: 32 bits of FNV-1a, then the count in eight bytes, then each digit as a letter.
const known = [
  { why: 'of nothing', data: {}, hash: '5859f96865' },
  { why: 'with a collision count of 0', data: {}, collisionCount: 0, hash: '7b58f74dd9' },
  { why: 'with a collision count of 1', data: {}, collisionCount: 1, hash: '648d6bd896' },
  { why: 'of what is not ASCII', data: revisionData({ metadata: { labels: { app: 'ä' } } }), hash: '76458bf496' },
];
for (const { why, data, collisionCount, hash } of known) {
  test(`hash of the content ${why}`, () => assert.equal(contentHash(data, collisionCount), hash));
}

/** The template that the field tests its own hash with, as a server before 1.34 gives it; its fields in another order. */
const inTheField =
  parsed(`{"spec":{"restartPolicy":"Always","terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst","securityContext":{},
"schedulerName":"default-scheduler","containers":[{"name":"test","image":"test","resources":{},"terminationMessagePath":"/dev/termination-log",
"terminationMessagePolicy":"File","imagePullPolicy":"Always"}]},
"metadata":{"creationTimestamp":null,"labels":{"app":"foo"},"annotations":{"test":"value"}}}`) as Record<string, unknown>;

const ofWords = [
  { why: 'without collisions', data: revisionData(inTheField), collisionCount: 0, hash: 'c77f6d978' },
  { why: 'with one collision', data: revisionData(inTheField), collisionCount: 1, hash: 'c77f6d979' },
  { why: 'of what a server from 1.34 on gives', data: revisionData(served(inTheField) as Record<string, unknown>), hash: '776999688b' },
];
for (const { why, data, collisionCount, hash } of ofWords) {
  test(`hash of the words ${why} is upstream's`, () => assert.equal(safeHash(data, collisionCount), hash));
}
