import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { contentHash, daemonSetHistory, HASH_LABEL, statefulSetHistory, safeHash } from '../../../../../controllers/common/history/contract.ts'; // prettier-ignore
import { currentRevision, planHistory, planTruncation } from '../../../../../controllers/common/history/plan.ts';
import { deepFreeze } from '../../../../../kube/cache/sharing.ts';
import { daemonSets, statefulSets } from '../../../../../kube/api/object.ts';
import { table } from '../../../../support/table.ts';
import { done, facts, names, revision, stepsOf } from './notation.ts';

// Revisions are written name#number=image, with @hash where the label is not the end of the name; pods are written name@hash. The hash of what is made is new.
const cases = table('now | have | pods | steps | hash | old | why')(`
  new | ds-a#1=old ds-b#2=new |  |  | b | ds-a | nothing for one that is the newest
  new | none |  | create #1 | new |  | the first one
  new | ds-b#5=b ds-a#2=a |  | create #6 | new | ds-a ds-b | one above all others
  a | ds-a#1=a ds-b#2=b |  | renumber ds-a #3 | a | ds-b | a new number for an old one that is wanted again
  b | ds-a#1=a@- ds-b#2=b@- |  | label ds-a ds-a, label ds-b ds-b | ds-b | ds-a | the name as the hash of one without label
  a | ds-a#1=a@- ds-b#2=b |  | label ds-a ds-a, renumber ds-a #3 | ds-a | ds-b | a label and a number where both are missing
  b | ds-a#1=a ds-b#2=b ds-c#3=b | p1@a p2@b p3@c p4 | relabel p2 c, delete ds-b | c | ds-a
    | an end to duplicates: the highest stays, and pods of the other get its hash
  b | ds-c#3=b ds-b#3=b | p1@b | relabel p1 c, delete ds-b | c |  | the last by name to duplicates of one number
  b | ds-b#2=b@- ds-c#3=b | p1@ds-b | relabel p1 c, delete ds-b | c |
    | no label to a duplicate that goes, while pods that carry its name find their way
  a | ds-a#1=a ds-c#2=a ds-b#3=b | p1@a p2@b p3@c | renumber ds-c #4, relabel p1 c, delete ds-a | c | ds-b
    | a new number to the duplicate that stays
  b | ds-b#2=b@same ds-c#3=b@same | p1@same | delete ds-b | same |
    | no patch to pods that carry the right hash, although a duplicate has it too
  b | ds-a#1=a@same ds-b#2=b@same ds-c#3=b | p1@same | delete ds-b | c | ds-a | its pods to an older template whose hash a duplicate has too
`);
for (const { now, have, pods, steps, hash, old, why } of cases)
  test(`history gives ${why}`, () => {
    const before = facts(now, have.replace('none', ''), pods);
    const plan = planHistory(before, daemonSets, daemonSetHistory);
    assert.equal(stepsOf(plan), steps);
    assert.equal(plan.hash, hash === 'new' ? contentHash(plan.current.data) : hash);
    assert.equal(names(plan.old), old);
    assert.equal(plan.current.metadata.labels?.[HASH_LABEL] ?? plan.current.metadata.name, plan.hash);
    assert.equal(stepsOf(planHistory(done(before, plan), daemonSets, daemonSetHistory)), '', 'a second time');
  });

test('a name that fits into no label gives way to the hash of the data', () => {
  const long = revision(`${'d'.repeat(70)}#1=b@-`);
  const before = { ...facts('b', ''), revisions: [long] };
  const plan = planHistory(before, daemonSets, daemonSetHistory);
  assert.deepEqual(plan.steps, [{ do: 'label', revision: long, hash: contentHash(long.data) }]);
  assert.equal(plan.hash, contentHash(long.data));
  assert.equal(planHistory(done(before, plan), daemonSets, daemonSetHistory).hash, plan.hash);
});

test('the older of two duplicates of one number goes, whatever their names', () => {
  const aged = (text: string, creationTimestamp: string) => {
    const made = revision(text);
    return { ...made, metadata: { ...made.metadata, creationTimestamp } };
  };
  const revisions = [aged('ds-a#3=b', '2026-01-02T00:00:00Z'), aged('ds-c#3=b', '2026-01-01T00:00:00Z')];
  assert.equal(stepsOf(planHistory({ ...facts('b', ''), revisions }, daemonSets, daemonSetHistory)), 'delete ds-c');
});

const ofStatefulSets = table('now | have | steps | hash | old | why')(`
  b | none                       | create #1        | new  |           | none when there is none, and makes the first
  c | ds-b#5=b ds-a#2=a          | create #6        | new  | ds-a ds-b | none that holds something else, and makes one above all
  a | ds-a#1=a ds-b#2=b          | renumber ds-a #3 | ds-a | ds-b      | an older one under a new number
  b | ds-a#1=b ds-b#2=b          |                  | ds-b | ds-a      | the last of equal ones, and keeps the others
  a | ds-b#2=b ds-a#2=a          | renumber ds-a #3 | ds-a | ds-b      | one that is not the last of its number under a new one
  a | ds-a#1=a@-                 |                  | ds-a |           | one without label as it is
`);
for (const { now, have, steps, hash, old, why } of ofStatefulSets)
  test(`the history of a StatefulSet takes ${why}`, () => {
    const plan = planHistory(facts(now, have.replace('none', ''), 'p1@ds-a'), statefulSets, statefulSetHistory);
    const made = plan.current.metadata.name;
    assert.deepEqual({ steps: stepsOf(plan), hash: plan.hash, old: names(plan.old) }, { steps, hash: hash === 'new' ? made : hash, old });
  });

test('a StatefulSet takes the revision with the null that its server does not write any more', () => {
  const bare = revision('web-1#3=a');
  const template = Object(bare.data).spec.template;
  const data = { spec: { template: { ...template, metadata: { creationTimestamp: null, ...template.metadata } } } };
  assert.notEqual(safeHash(data), safeHash(bare.data));
  const plan = planHistory({ ...facts('a', ''), revisions: [{ ...bare, data }] }, statefulSets, statefulSetHistory);
  assert.deepEqual([stepsOf(plan), plan.hash], ['', 'web-1']);
});

test('pods of a StatefulSet carry the name of a revision that is to be made', () => {
  const plan = planHistory(facts('a', '', '', 1), statefulSets, statefulSetHistory);
  const { name, labels } = plan.current.metadata;
  const hash = safeHash(plan.current.data, 1);
  assert.deepEqual([plan.hash, name, labels], [`ds-${hash}`, `ds-${hash}`, { app: 'x', 'controller.kubernetes.io/hash': hash }]);
  assert.equal(plan.current.metadata.ownerReferences?.[0]?.kind, 'StatefulSet');
  assert.equal(plan.collisionCount, 1);
});

const currents = [
  { why: 'the one that the status names', have: 'ds-a#1=a ds-b#2=b', name: 'ds-a', is: 'ds-a' },
  { why: 'the update revision when the status names none', have: 'ds-a#1=a', name: undefined, is: 'ds-u' },
  { why: 'the update revision when that one is gone', have: 'ds-a#1=a', name: 'ds-b', is: 'ds-u' },
];
for (const { why, have, name, is } of currents)
  test(`the current revision is ${why}`, () => {
    const found = currentRevision(have.split(' ').map(revision), name, revision('ds-u#9=u'));
    assert.equal(found.metadata.name, is);
  });

test('of the update revision the current one is what was written', () => {
  const written = revision('ds-a#3=a');
  assert.equal(currentRevision([revision('ds-a#1=a'), revision('ds-b#2=b')], 'ds-a', written), written);
});

const three = 'ds-c#3=c ds-a#1=a ds-b#2=b';
const truncations = [
  { why: 'nothing at the limit', old: three, live: '', limit: 3, gone: '' },
  { why: 'the lowest above the limit', old: three, live: '', limit: 2, gone: 'ds-a' },
  { why: 'the next one when the lowest is in use', old: three, live: 'a', limit: 2, gone: 'ds-b' },
  { why: 'all with the limit 0', old: three, live: '', limit: 0, gone: 'ds-a ds-b ds-c' },
  { why: 'fewer than it would when too many are in use', old: three, live: 'a b', limit: 0, gone: 'ds-c' },
  { why: 'one without label by its name', old: 'ds-a#1=a@- ds-b#2=b', live: 'ds-a', limit: 0, gone: 'ds-b' },
  { why: 'nothing with a limit below 0', old: three, live: '', limit: -1, gone: '' },
];
for (const { why, old, live, limit, gone } of truncations)
  test(`truncation deletes ${why}`, () => {
    const revisions = old.split(' ').map(revision);
    assert.equal(names(planTruncation({ old: revisions }, new Set(live.split(' ')), limit, daemonSetHistory)), gone);
  });

const ofNames = [
  { why: 'nothing while those not in use are at the limit', live: 'ds-a', limit: 2, gone: '' },
  { why: 'the lowest not in use above the limit, which counts those alone', live: 'ds-a', limit: 1, gone: 'ds-b' },
  { why: 'all not in use with the limit 0', live: 'ds-b', limit: 0, gone: 'ds-a ds-c' },
  { why: 'nothing with a limit below 0', live: '', limit: -1, gone: '' },
];
for (const { why, live, limit, gone } of ofNames)
  test(`truncation of a StatefulSet deletes ${why}`, () => {
    assert.equal(names(planTruncation({ old: three.split(' ').map(revision) }, new Set(live.split(' ')), limit, statefulSetHistory)), gone);
  });

const images = fc.constantFrom('a', 'b', 'c');
const label = fc.constantFrom('', '@-', '@same', '@zz');
const anyRevision = fc.record({ number: fc.nat(5), image: images, label });
const anyPods = fc.array(fc.constantFrom('p@r0', 'p@r1', 'p@r2', 'p@same', 'p@zz', 'p@ds-r1', 'p'), { maxLength: 6 });

test('a plan that was carried out leaves nothing to plan, relabels no pod of an older template, and changes nothing that it was given', () => {
  fc.assert(
    fc.property(images, fc.array(anyRevision, { maxLength: 6 }), anyPods, fc.boolean(), (now, revisions, pods, dedup) => {
      const have = revisions.map(({ number, image, label }, at) => `ds-r${at}#${number}=${image}${label}`).join(' ');
      const before = deepFreeze(facts(now, have, pods.map((pod, at) => pod.replace('p', `p${at}`)).join(' ')));
      const rules = dedup ? daemonSetHistory : statefulSetHistory;
      const plan = planHistory(before, daemonSets, rules);
      const after = done(before, plan);
      const again = planHistory(after, daemonSets, rules);
      assert.equal(stepsOf(again), '');
      assert.equal(again.hash, plan.hash);
      assert.equal(again.current.metadata.name, plan.current.metadata.name);
      if (!dedup) assert.ok(plan.steps.length <= 1 && plan.steps.every((step) => step.do === 'create' || step.do === 'renumber'));
      assert.ok(again.old.every((one) => one.revision < again.current.revision || (!dedup && one.revision === again.current.revision)));
      const hashesOfOld = new Set(plan.old.map(({ metadata }) => metadata.labels?.[HASH_LABEL] ?? metadata.name));
      for (const step of plan.steps) if (step.do === 'relabel') assert.ok(!hashesOfOld.has(step.pod.metadata.labels?.[HASH_LABEL] ?? ''));
    }),
    { numRuns: 300 },
  );
});
