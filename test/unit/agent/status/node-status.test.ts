import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ConfigStatus, statusErrors } from '../../../../agent/status/node-config-state.ts';
import { AGENT_ANNOTATION, configPatch, configStatus, nodePatch, wantedOf } from '../../../../agent/status/node-status.ts';
import { source } from '../../../support/builders.ts';

const spec = { namespace: 'dkc-system', name: 'web', kubeletConfigKey: 'kubelet' };

// prettier-ignore
const wanted: { why: string; configSource: unknown; namespace?: string; is: string; problem?: RegExp }[] = [
  { why: 'an empty object is not local', configSource: {}, is: 'no-source' },
  { why: 'a list is no ConfigMap', configSource: { configMap: [spec] }, is: 'invalid', problem: /^spec\.configSource\.configMap is not an object$/ },
  { why: 'all of it there is a source', configSource: { configMap: spec }, is: 'source' },
  { why: 'a namespace must be set', configSource: { configMap: { ...spec, namespace: undefined } }, is: 'invalid', problem: /^spec\.configSource\.configMap\.namespace: Required value: namespace must be set$/ },
  { why: 'a namespace that this agent may not read is forbidden', configSource: { configMap: { ...spec, namespace: 'default' } }, is: 'forbidden', problem: /default.*dkc-system.*--configmap-namespace/ },
  { why: 'an empty --configmap-namespace allows any', configSource: { configMap: { ...spec, namespace: 'default' } }, namespace: '', is: 'source' },
];

for (const { why, configSource, namespace = 'dkc-system', is, problem } of wanted)
  test(`configSource: ${why}`, () => {
    const got = wantedOf(configSource, namespace);
    assert.equal(got.at, is);
    if ('problem' in got) assert.match(got.problem, problem ?? /^$/);
    if (got.at === 'source')
      assert.deepEqual(Object.keys(got.spec).toSorted(), ['kubeletConfigKey', 'name', 'namespace'], 'only what a spec may say');
  });

const local: ConfigStatus = { assigned: null, active: null, lastKnownGood: null, error: null };
const full: ConfigStatus = { assigned: source('web@3'), active: source('web@2'), lastKnownGood: source('web@1'), error: statusErrors.validate }; // prettier-ignore
const member = (rv: string) => ({ configMap: { namespace: 'dkc-system', name: 'web', uid: 'u-web', resourceVersion: rv, kubeletConfigKey: 'kubelet' } }); // prettier-ignore

const written = configStatus(full);
// prettier-ignore
const patches: { why: string; seen: unknown; picture: ConfigStatus; config: unknown }[] = [
  { why: 'nothing when it says so already', seen: written, picture: full, config: undefined },
  { why: 'an empty config where the field is absent, since that says another thing', seen: undefined, picture: local, config: {} },
  { why: 'everything the first time', seen: undefined, picture: full, config: written },
  { why: 'null for an error that is over', seen: written, picture: { ...full, error: null }, config: { error: null } },
  { why: 'null for every member when the node is back on local', seen: written, picture: local, config: { assigned: null, active: null, lastKnownGood: null, error: null } },
  { why: 'a whole member when a part of it is missing', seen: { ...written, assigned: { configMap: { ...member('3').configMap, uid: undefined } } }, picture: full, config: { assigned: member('3') } },
];

for (const { why, seen, picture, config } of patches)
  test(`the status patch holds ${why}`, () =>
    assert.deepEqual(configPatch(seen, picture), config === undefined ? undefined : { status: { config } }));

test('the strings of status.config.error are upstream’s, letter by letter, and our two', () => {
  assert.deepEqual(Object.values(statusErrors).toSorted(), [
    'failed to load config, see Kubelet log for details',
    'failed to sync: failed to download config, see Kubelet log for details',
    'failed to sync: internal failure, see Kubelet log for details',
    'failed to sync: invalid NodeConfigSource, exactly one subfield must be non-nil, but all were nil',
    'failed to validate config, see Kubelet log for details',
    'failed trial, see dkc-agent log for details',
    'internal failure, see Kubelet log for details',
    'rolled back by admin, see dkc-agent log for details',
  ]);
});

const endsAt = '2026-03-01T00:10:00Z';
const note = (trial: { endsAt: string } | null) => ({ [AGENT_ANNOTATION]: JSON.stringify({ version: '0.1.0', trial }) });
const nodeWith = (annotations?: Record<string, string>) => ({ metadata: { name: 'node-a', ...(annotations ? { annotations } : {}) }, status: { config: configStatus(local) } }); // prettier-ignore

// prettier-ignore
const notes = [
  { why: 'a Node that has none gets one', seen: nodeWith(), trial: null, is: { metadata: { annotations: note(null) } } },
  { why: 'one that says the same is left alone', seen: nodeWith(note(null)), trial: null, is: undefined },
  { why: 'a trial that begins is written', seen: nodeWith(note(null)), trial: { endsAt }, is: { metadata: { annotations: note({ endsAt }) } } },
];

for (const { why, seen, trial, is } of notes)
  test(`the annotation dkc.dev/agent: ${why}`, () => assert.deepEqual(nodePatch(seen, { ...local, trial }, '0.1.0'), is));
