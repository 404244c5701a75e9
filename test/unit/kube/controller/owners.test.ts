import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../../../../kube/api/object.ts';
import type { LabelSelectorObject } from '../../../../kube/api/selector.ts';
import { IndexedStore } from '../../../../kube/cache/indexed-store.ts';
import { matchingOwners } from '../../../../kube/controller/owners.ts';
import { recordedLog } from '../../../support/recorded-log.ts';

type Owner = KubeObject & { selector?: LabelSelectorObject | null };

const app = (name: string) => ({ matchLabels: { app: name } });
const expression = (operator: string, values?: string[]) => ({
  matchExpressions: [{ key: 'app', operator, ...(values === undefined ? {} : { values }) }],
});

// prettier-ignore
const cases: [why: string, labels: Record<string, string> | undefined, owners: Record<string, unknown>, keys: string[], says?: RegExp[]][] = [
  ['the owner whose selector matches', { app: 'web' }, { 'x/a': app('web'), 'x/b': app('db') }, ['x/a']],
  ['nobody in another namespace', { app: 'web' }, { 'y/a': app('web'), a: app('web') }, []],
  ['nobody for no labels', undefined, { 'x/a': expression('DoesNotExist') }, []],
  ['no owner with an empty selector', { app: 'web' }, { 'x/a': {}, 'x/b': { matchLabels: {} } }, []],
  ['no owner without a selector', { app: 'web' }, { 'x/a': undefined, 'x/b': null }, []],
  ['owners by expression', { app: 'web' }, { 'x/a': expression('In', ['db', 'web']) }, ['x/a']],
  ['the others where one selector is invalid', { app: 'web' }, { 'x/a': expression('Like'), 'x/b': app('web') }, ['x/b'], [/^warn: invalid selector/]],
  ['all of several, and says so', { app: 'web' }, { 'x/a': app('web'), 'x/b': expression('Exists') }, ['x/a', 'x/b'], [/^error: several owners/]],
];

function storeOf(owners: Record<string, unknown>): IndexedStore<Owner> {
  const store = new IndexedStore<Owner>();
  for (const [key, selector] of Object.entries(owners)) {
    const [name = '', namespace] = key.split('/').toReversed();
    const metadata = { name, ...(namespace === undefined ? {} : { namespace }) };
    store.put({ metadata, ...(selector === undefined ? {} : { selector }) });
  }
  return store;
}

for (const [why, labels, owners, keys, says = []] of cases) {
  test(`matching names ${why}`, () => {
    const { log, lines } = recordedLog();
    const matching = matchingOwners<Owner>(({ selector }) => selector, log);
    const orphan: KubeObject = { metadata: { name: 'o', namespace: 'x', ...(labels === undefined ? {} : { labels }) } };
    assert.deepEqual(matching(orphan, storeOf(owners)), keys);
    assert.equal(lines.length, says.length);
    for (const [at, text] of says.entries()) assert.match(lines[at] ?? '', text);
  });
}
