import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test, type TestContext } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { controllersFlags } from '../../../../cli/controllers/command.ts';
import { rightsFor } from '../../../../cli/controllers/rights.ts';
import { controllersSettings } from '../../../../cli/controllers/settings.ts';
import { plainFlags } from '../../../../cli/args/args.ts';
import type { KubeObject } from '../../../../kube/api/object.ts';
import { text } from '../../kube/process/process-world.ts';
import { quick, up, type Up } from '../process/long-world.ts';
import { start } from './controllers-world.ts';

const page = await readFile(new URL('../../../../docs/controllers.md', import.meta.url), 'utf8');
const manifests = [...page.matchAll(/```yaml\n(.*?)```/gs)].flatMap(([, block = '']) =>
  parseAllDocuments(block).map((document) => {
    assert.deepEqual(document.errors, []);
    return document.toJS() as KubeObject & { rules?: Rule[] };
  }),
);

type Rule = { apiGroups: string[]; resources: string[]; verbs: string[]; resourceNames?: string[] };

const account = { token: 'theirs', user: 'system:serviceaccount:kube-system:dkc-controllers', groups: [] };

/** A server with the page's roles on it, without what can be done with `verb` to `resource`. */
async function withRights(t: TestContext, { verb: left = '', resource = '' } = {}): Promise<Up> {
  const world = await up(t, { tokens: [account], podKubelet: 'instant' });
  for (const { rules, ...manifest } of manifests.filter(({ kind }) => kind !== 'Deployment')) {
    const verbsOf = (rule: Rule): string[] => rule.verbs.filter((verb) => verb !== left || !rule.resources.includes(resource));
    world.server.add({ ...manifest, ...(rules && { rules: rules.map((rule) => ({ ...rule, verbs: verbsOf(rule) })) }) });
  }
  return world;
}

test('a right to write that is missing is known before it is needed', { timeout: 120_000 }, async (t) => {
  const { kubeconfig } = await withRights(t, { verb: 'create', resource: 'pods' });
  const run = start(t, [`--kubeconfig=${await kubeconfig(account.token)}`, ...quick]);
  const { metrics } = await run.ready;
  assert.match(await text(`${metrics}/readyz`, /rights failed/), /^\[-\]rights failed: missing: create pods$/m);
  assert.deepEqual(run.fields[run.lines.indexOf('warn: missing rights')], { missing: 'create pods', vital: true });
  assert.equal(await run.stop(), 0);
});

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

test('docs/controllers.md has every flag, and none that is not there', () => {
  const [, table = ''] = /## Flags\n(.*?)\n\n[^|\n]/s.exec(page) ?? [];
  const named = [...table.matchAll(/^\|([^|]*)\|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`--([a-z-]+)`/g)].map(([, name = '']) => name),
  );
  assert.deepEqual(named.toSorted(), controllersFlags.map(({ name }) => name).toSorted());
});

test('docs/controllers.md has kube-controller-manager leave out what is run here by default', () => {
  const told = [...page.matchAll(/--controllers=\*[\w,]*?((?:,-\w+)+)/g)].map(([, out = '']) => out);
  const asked = controllersSettings(plainFlags('controllers run', controllersFlags, [])).controllers;
  assert.deepEqual(new Set(told), new Set([asked.map((name) => `,-${name}`).join('')]));
});

for (const room of ['daemonset', 'statefulset'])
  test(`docs/${room}.md names all annotations of its controller`, async () => {
    const read = (path: string): Promise<string> => readFile(new URL(`../../../../${path}`, import.meta.url), 'utf8');
    const annotations = (of: string): Set<string> => new Set(of.match(/dkc\.dev\/[a-z-]+/g));
    assert.deepEqual(annotations(await read(`docs/${room}.md`)), annotations(await read(`controllers/${room}/rules.ts`)));
  });
