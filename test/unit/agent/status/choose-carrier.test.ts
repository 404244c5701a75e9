import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseCarrier, installCommand, nativeSupport, type CarrierFacts, type Native } from '../../../../agent/status/choose-carrier.ts';
import type { Wanted } from '../../../../agent/sync/plan.ts';

const says = (name: string): Wanted => ({ at: 'source', spec: { namespace: 'dkc-system', name, kubeletConfigKey: 'kubelet' } });
const noNode: Wanted = { at: 'invalid', problem: 'Node node-a does not exist' };
const words: Record<string, Wanted | 'unserved' | 'forbidden' | undefined> = {
  '?': undefined, local: { at: 'local' }, absent: { at: 'absent' }, unserved: 'unserved', forbidden: 'forbidden', gone: noNode, a: says('a'), b: says('b'), empty: { at: 'no-source' },
}; // prettier-ignore

/** What Node and NodeConfig say, whether the server keeps the Node's fields, who assigned last; then who assigns and what: `-` no one, `keep` nothing. */
// prettier-ignore
const cases: { why: string; node: string; nodeConfig: string; native: Native; last?: 'node' | 'nodeconfig'; mode?: 'nodeconfig'; is: string; missing?: 'crds' | 'rbac' }[] = [
  { why: 'nothing is decided before the server has said whether there is a NodeConfig', node: 'a', nodeConfig: '?', native: 'kept', is: 'wait' },
  { why: 'the Node assigns where there is nothing else', node: 'a', nodeConfig: 'unserved', native: 'unknown', is: 'node a' },
  { why: 'an empty Node is local where the server keeps its fields', node: 'local', nodeConfig: 'unserved', native: 'kept', is: 'node local' },
  { why: 'an empty Node says nothing once a NodeConfig has assigned: the object is gone', node: 'local', nodeConfig: 'absent', native: 'kept', last: 'nodeconfig', is: 'nodeconfig keep' },
  { why: 'an empty Node says nothing where the server drops its fields', node: 'local', nodeConfig: 'absent', native: 'dropped', last: 'node', is: 'nodeconfig keep' },
  { why: 'a server with neither', node: 'local', nodeConfig: 'unserved', native: 'dropped', is: '- keep', missing: 'crds' },
  { why: 'a server whose NodeConfigs this agent may not read', node: 'local', nodeConfig: 'forbidden', native: 'dropped', is: 'nodeconfig keep', missing: 'rbac' },
  { why: '--assignment=nodeconfig reads nothing in the Node', node: 'a', nodeConfig: 'absent', native: 'kept', mode: 'nodeconfig', is: 'nodeconfig keep' },
  { why: '--assignment=nodeconfig without the definition', node: 'a', nodeConfig: 'unserved', native: 'kept', mode: 'nodeconfig', is: '- keep', missing: 'crds' },
];

const text = (wanted: Wanted): string => (wanted.at === 'source' ? wanted.spec.name : wanted.at === 'absent' ? 'keep' : wanted.at);

for (const { why, node, nodeConfig, native, last, mode = 'auto', is, missing } of cases)
  test(`who assigns: ${why}`, () => {
    const facts = { nodeName: 'node-a', mode, node: words[node], nodeConfig: words[nodeConfig], native, serverVersion: 'v1.36.3', assignedBy: last }; // prettier-ignore
    const choice = chooseCarrier(facts as CarrierFacts);
    assert.equal(choice ? `${choice.carrier ?? '-'} ${text(choice.wanted)}` : 'wait', is);
    assert.match(
      choice?.missing ?? '',
      missing ? new RegExp(`v1\\.36\\.3|API server.*; run: dkc deploy manifests --only=${missing} \\| kubectl apply -f -$`) : /^$/,
    );
  });

// prettier-ignore
const versions: { why: string; version: string; has: boolean; probed?: boolean; is: Native }[] = [
  { why: 'a server that was asked and kept it', version: 'v1.20.2', has: true, probed: true, is: 'kept' },
  { why: 'a status from an agent before this one', version: 'v1.20.2', has: true, is: 'kept' },
  { why: 'a server from 1.26 on need not be asked', version: 'v1.26.0', has: false, is: 'dropped' },
  { why: 'a server that does not say its version is asked', version: '', has: false, is: 'unknown' },
];

for (const { why, version, has, probed, is } of versions)
  test(`whether the server keeps Node.spec.configSource: ${why}`, () => assert.equal(nativeSupport(version, has, probed), is));

for (const [version, flag] of [
  ['v1.20.2', ' --kubernetes-version=1.20'],
  ['', ''],
] as const)
  test(`what ${version || 'a server without a version'} lacks is brought by a command that it takes`, () =>
    assert.equal(installCommand(version, 'crds'), `dkc deploy manifests --only=crds${flag} | kubectl apply -f -`));
