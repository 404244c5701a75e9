import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DaemonSetSpec } from 'kubernetes-types/apps/v1.js';
import { rulesOf, type Rules, selects } from '../../../../controllers/daemonset/rules.ts';
import { daemonSet, pod, templateOf, type SetOptions } from './notation.ts';

const read = (options: SetOptions = {}): Rules => rulesOf(daemonSet(options), 'scheduler');

test('a set of which nothing is said has the defaults of the API', () => {
  const bare = rulesOf({ metadata: { name: 'ds', namespace: 'ns', uid: 'u' } }, 'scheduler');
  const { update, surging, minReadyMs, historyLimit, templateGeneration, critical } = bare;
  assert.deepEqual(
    { update, surging, minReadyMs, historyLimit, templateGeneration, critical },
    {
      update: { type: 'RollingUpdate', maxUnavailable: 1, maxSurge: 0 },
      surging: false,
      minReadyMs: 0,
      historyLimit: 10,
      templateGeneration: undefined,
      critical: false,
    },
  );
});

test('no old revision need be kept', () => {
  const set = daemonSet();
  const spec: DaemonSetSpec = { selector: {}, template: templateOf('new'), revisionHistoryLimit: 0 };
  assert.equal(rulesOf({ ...set, spec }, 'scheduler').historyLimit, 0);
});

const surges: { why: string; set: SetOptions; is: boolean }[] = [
  { why: 'with a number', set: { maxSurge: 1 }, is: true },
  { why: 'with a share, however small', set: { maxSurge: '1%' }, is: true },
  { why: 'not with a share of nothing', set: { maxSurge: '0%' }, is: false },
  { why: 'not with none', set: { maxSurge: 0 }, is: false },
  { why: 'not with what cannot be read', set: { maxSurge: 'some' }, is: false },
  { why: 'not where people delete', set: { maxSurge: 1, onDelete: true }, is: false },
];
for (const { why, set, is } of surges) test(`a set surges ${why}`, () => assert.equal(read(set).surging, is));

const selectors: { why: string; selector: DaemonSetSpec['selector'] | undefined; kind: Rules['selector']['kind'] }[] = [
  { why: 'by labels', selector: { matchLabels: { app: 'x' } }, kind: 'labels' },
  { why: 'by expressions', selector: { matchExpressions: [{ key: 'app', operator: 'In', values: ['x'] }] }, kind: 'labels' },
  { why: 'everything by an empty one', selector: {}, kind: 'all' },
  { why: 'everything by one without labels', selector: { matchLabels: {}, matchExpressions: [] }, kind: 'all' },
  { why: 'nothing that could be read without one', selector: undefined, kind: 'bad' },
  { why: 'nothing that could be read by an unknown word', selector: { matchExpressions: [{ key: 'app', operator: 'Near' }] }, kind: 'bad' },
];
for (const { why, selector, kind } of selectors)
  test(`a set selects ${why}`, () => {
    const set = daemonSet();
    const spec = { ...set.spec, selector, template: templateOf('new') } as DaemonSetSpec;
    const rules = rulesOf({ ...set, spec }, 'scheduler');
    assert.equal(rules.selector.kind, kind);
    const other = { ...pod('a@new'), metadata: { name: 'p', labels: { app: 'y' } } };
    assert.equal(selects(rules)(pod('a@new')), kind === 'labels');
    assert.equal(selects(rules)(other), false);
  });

test('an old-style critical pod is one of kube-system with its annotation, where the controller places pods', () => {
  const critical = (namespace: string, annotation: string | undefined, placement: 'scheduler' | 'controller'): boolean => {
    const set = daemonSet();
    const annotations = annotation === undefined ? {} : { 'scheduler.alpha.kubernetes.io/critical-pod': annotation };
    const spec: DaemonSetSpec = { selector: {}, template: { ...templateOf('new'), metadata: { annotations } } };
    return rulesOf({ ...set, metadata: { ...set.metadata, namespace }, spec }, placement).critical;
  };
  assert.equal(critical('kube-system', '', 'controller'), true);
  assert.equal(critical('kube-system', '', 'scheduler'), false);
  assert.equal(critical('default', '', 'controller'), false);
  assert.equal(critical('kube-system', undefined, 'controller'), false);
  assert.equal(critical('kube-system', 'false', 'controller'), false);
});
