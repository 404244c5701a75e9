import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { directoryNameProblem, keyProblem, sourceProblems, specSourceProblems } from '../../../../agent/checkpoint/source.ts';
import { layout } from '../../../../agent/store/layout.ts';

const source = { namespace: 'dkc-system', name: 'web.example', uid: 'u-1', resourceVersion: '41', kubeletConfigKey: 'kubelet' };

const CONFIG_KEY = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'";
const cases: [why: string, over: Partial<typeof source>, says?: string][] = [
  ['all is well', {}],
  ['the key is missing', { kubeletConfigKey: '' }, 'kubeletConfigKey: Required value: kubeletConfigKey must be set'],
  ['the resourceVersion is missing', { resourceVersion: '' }, 'resourceVersion: Required value: resourceVersion must be set in status'],
  ['the key is a dot', { kubeletConfigKey: '.' }, `kubeletConfigKey: Invalid value: ".": must not be '.'`],
  ['the key starts with two dots', { kubeletConfigKey: '..a' }, `kubeletConfigKey: Invalid value: "..a": must not start with '..'`],
  ['the key is a path', { kubeletConfigKey: 'a/b' }, `kubeletConfigKey: Invalid value: "a/b": ${CONFIG_KEY}`],
];
for (const [why, over, says] of cases)
  test(`a source where ${why}`, () => assert.deepEqual(sourceProblems({ ...source, ...over }), says === undefined ? [] : [says]));

test('names are DNS names up to their longest', () => {
  const problems = (namespace: string, name: string) => specSourceProblems({ ...source, namespace, name }).length;
  assert.equal(problems('a'.repeat(63), 'a'.repeat(253)), 0);
  assert.equal(problems('a'.repeat(64), 'a'.repeat(254)), 2);
  for (const name of ['-a', 'a-', 'a..b', '.a', 'a.', 'A', 'a_b', 'a b', 'a/b', '../a', 'a\n']) assert.equal(problems('a', name), 1, name);
  for (const namespace of ['a.b', '-a', 'A', '..', 'a/b']) assert.equal(problems(namespace, 'a'), 1, namespace);
});

test('whatever is let through stays inside the store', () => {
  const paths = layout('/d');
  const name = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.constantFrom('.', '/', 'a', '\\', '\0', '-') }),
    fc.constant('..'),
  );
  fc.assert(
    fc.property(name, name, name, (uid, resourceVersion, key) => {
      const problem = directoryNameProblem('UID', uid) ?? directoryNameProblem('ResourceVersion', resourceVersion) ?? keyProblem(key);
      if (problem !== undefined) {
        assert.throws(() => paths.file({ uid, resourceVersion }, key), RangeError);
      } else {
        assert.equal(paths.file({ uid, resourceVersion }, key), `${paths.checkpoints}/${uid}/${resourceVersion}/${key}`);
      }
    }),
  );
});
