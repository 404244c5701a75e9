import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { planProvision, progressOf, type Step } from '../../../../scheduler/volumes/binding.ts';
import { node } from '../builders.ts';
import { claim, volume, type ClaimBuilder, type VolumeBuilder } from './storage-builders.ts';

const wanted = claim('data').build();
const inShort = (step: Step): string => (step.do === 'give-up' ? step.why.replace(/; the pod will be retried$/, '') : step.do);

describe('to have a volume made', () => {
  const cases: { why: string; claim: ClaimBuilder | undefined; is: string }[] = [
    { why: 'the node is written', claim: claim('data'), is: 'patch' },
    { why: 'nothing is left where it is written', claim: claim('data').madeFor('node-a'), is: 'nothing' },
    { why: 'no other node may be written', claim: claim('data').madeFor('node-b'), is: 'its volume is being provisioned for node node-b' },
  ];
  for (const c of cases) test(c.why, () => assert.equal(inShort(planProvision(c.claim?.build(), wanted, 'node-a')), c.is));

  test('the write holds for this state of this claim alone', () => {
    assert.deepEqual(planProvision(wanted, wanted, 'node-a'), {
      do: 'patch',
      patch: { metadata: { resourceVersion: '1', uid: 'uid-data', annotations: { 'volume.kubernetes.io/selected-node': 'node-a' } } },
    });
  });
});

interface Case {
  why: string;
  claim: ClaimBuilder | undefined;
  volumes?: readonly VolumeBuilder[];
  /** The version that our write gave the volume, or the claim. */
  written?: string;
  gone?: boolean;
  is: RegExp;
}

function progress(c: Case, how: 'reserve' | 'provision'): string {
  const volumes = (c.volumes ?? []).map((one) => one.build());
  const decision = {
    reserve: how === 'reserve' ? [{ volume: volume('pv').build(), claim: wanted }] : [],
    provision: how === 'provision' ? [{ claim: wanted, node: 'node-a' }] : [],
  };
  const found = progressOf(decision, {
    node: c.gone ? undefined : node('node-a').build(),
    claim: () => c.claim?.build(),
    volume: (name) => volumes.find(({ metadata }) => metadata.name === name),
    written: () => c.written,
  });
  return found.is === 'bound' ? 'bound' : `${found.is}: ${found.why}`;
}

const row = (why: string, is: RegExp, claim: ClaimBuilder | undefined, more: Pick<Case, 'volumes' | 'written' | 'gone'> = {}): Case => ({
  why,
  is,
  claim,
  ...more,
});
const reserved = volume('pv').for('data', 'uid-data');
const free = { volumes: [volume('pv')] };

describe('with a volume reserved', () => {
  const bound = () => claim('data').to('pv');
  const lost = /^impossible: volume pv is no longer reserved for claim default\/data; the pod/;
  const unreachable = /^impossible: .* got volume pv, which this node cannot reach/;
  const cases: Case[] = [
    row('all is well when both are bound', /^bound$/, bound(), { volumes: [reserved] }),
    row('whoever binds claims is waited for', /^waiting: claim default\/data is not bound yet/, claim('data'), { volumes: [reserved] }),
    row('our own write may not be seen yet', /^waiting/, claim('data'), { ...free, written: '2' }),
    row('a reservation that was seen and is there no more', lost, claim('data'), { ...free, written: '1' }),
    row('the volume is gone', /^impossible: volume pv is gone/, claim('data')),
    row('the node does not reach the volume', unreachable, bound(), { volumes: [volume('pv').local('node-b')] }),
    row('the claim is gone', /^impossible: claim default\/data: it is gone/, undefined),
    row('the node is gone', /^impossible: the node is gone/, bound(), { ...free, gone: true }),
  ];
  for (const c of cases) test(c.why, () => assert.match(progress(c, 'reserve'), c.is));
});

describe('with a volume being made', () => {
  const chosen = () => claim('data').madeFor('node-a');
  const given = /^impossible: no volume could be provisioned on this node for claim default\/data/;
  const cases: Case[] = [
    row('all is well when it is bound', /^bound$/, chosen().to('made'), { volumes: [volume('made')] }),
    row('the provisioner is waited for', /^waiting/, chosen()),
    row('our own write may not be seen yet', /^waiting/, claim('data'), { written: '2' }),
    row('the provisioner gave the node up', given, claim('data'), { written: '1' }),
  ];
  for (const c of cases) test(c.why, () => assert.match(progress(c, 'provision'), c.is));
});
