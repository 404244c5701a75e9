import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { schedulerRights } from '../../../../cli/scheduler/rights.ts';
import { defaultSchedulerConfig } from '../../../../scheduler/config/config.ts';
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

test('weights in docs/scheduler.md are those of the plugins', () => {
  const [profile] = defaultSchedulerConfig.profiles.values();
  const told = [...page.matchAll(/^\| `([A-Z]\w+)` \| (\d+) \|/gm)].map(([, name, weight]) => [name, Number(weight)]);
  assert.deepEqual(told, [...(profile?.scores ?? [])]);
});
