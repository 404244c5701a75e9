import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { planProvision, planReservation, progressOf, type Step } from '../../../../scheduler/volumes/binding.ts';
import { node } from '../builders.ts';
import { claim, volume, type ClaimBuilder, type VolumeBuilder } from './storage-builders.ts';

const wanted = claim('data').build();
const inShort = (step: Step): string => (step.do === 'give-up' ? step.why.replace(/; the pod will be retried$/, '') : step.do);

describe('to reserve a volume', () => {
  const cases: { why: string; volume: VolumeBuilder | undefined; claim?: ClaimBuilder | undefined; is: string }[] = [
    { why: 'that is free, it is written', volume: volume('pv'), is: 'patch' },
    { why: 'that a person reserved by name, it is written', volume: volume('pv').for('data'), is: 'patch' },
    { why: 'that is reserved already, nothing is left', volume: volume('pv').for('data', 'uid-data'), is: 'nothing' },
    {
      why: 'for a claim that got one in the meantime, nothing is done',
      volume: volume('pv'),
      claim: claim('data').spec({ volumeName: 'x' }),
      is: 'nothing',
    },
    {
      why: 'that somebody else has, cannot be',
      volume: volume('pv').for('other', 'u'),
      is: 'it is already reserved for claim default/other',
    },
    {
      why: 'for a claim that was here before, cannot be',
      volume: volume('pv').for('data', 'u'),
      is: 'it is already reserved for claim default/data',
    },
    { why: 'that is gone, cannot be', volume: undefined, is: 'it is gone' },
    { why: 'for a claim that is gone, cannot be', volume: volume('pv'), claim: undefined, is: 'claim default/data: it is gone' },
    {
      why: 'for a claim that goes, cannot be',
      volume: volume('pv'),
      claim: claim('data').deleted(),
      is: 'claim default/data: it is being deleted',
    },
    {
      why: 'for another claim of this name, cannot be',
      volume: volume('pv'),
      claim: claim('data').uid('u'),
      is: 'claim default/data: it was created again under its name',
    },
  ];
  for (const c of cases)
    test(c.why, () => {
      const now = 'claim' in c ? c.claim?.build() : wanted;
      assert.equal(inShort(planReservation(c.volume?.build(), now, wanted)), c.is);
    });

  test('the write holds for this state of this volume alone, and says who chose it', () => {
    assert.deepEqual(planReservation(volume('pv').build(), wanted, wanted), {
      do: 'patch',
      patch: {
        metadata: { resourceVersion: '1', uid: 'uid-pv', annotations: { 'pv.kubernetes.io/bound-by-controller': 'yes' } },
        spec: {
          claimRef: {
            apiVersion: 'v1',
            kind: 'PersistentVolumeClaim',
            namespace: 'default',
            name: 'data',
            uid: 'uid-data',
            resourceVersion: '1',
          },
        },
      },
    });
  });

  test('what a person reserved stays theirs', () => {
    const step = planReservation(volume('pv').for('data').build(), wanted, wanted);
    assert.ok(step.do === 'patch');
    assert.deepEqual((step.patch as { metadata: object }).metadata, { resourceVersion: '1', uid: 'uid-pv' });
  });
});

describe('to have a volume made', () => {
  const cases: { why: string; claim: ClaimBuilder | undefined; is: string }[] = [
    { why: 'the node is written', claim: claim('data'), is: 'patch' },
    { why: 'nothing is left where it is written', claim: claim('data').madeFor('node-a'), is: 'nothing' },
    { why: 'nothing is left where the claim is bound', claim: claim('data').to('pv'), is: 'nothing' },
    { why: 'no other node may be written', claim: claim('data').madeFor('node-b'), is: 'its volume is being provisioned for node node-b' },
    { why: 'the claim must be there', claim: undefined, is: 'it is gone' },
    { why: 'the claim must stay', claim: claim('data').deleted(), is: 'it is being deleted' },
    { why: 'the claim must be this one', claim: claim('data').uid('u'), is: 'it was created again under its name' },
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

describe('with a volume reserved', () => {
  const cases: Case[] = [
    {
      why: 'all is well when both are bound',
      claim: claim('data').to('pv'),
      volumes: [volume('pv').for('data', 'uid-data')],
      is: /^bound$/,
    },
    { why: 'another volume is as well', claim: claim('data').to('other'), volumes: [volume('other')], is: /^bound$/ },
    {
      why: 'whoever binds claims is waited for',
      claim: claim('data'),
      volumes: [volume('pv').for('data', 'uid-data')],
      is: /^waiting: claim default\/data is not bound yet/,
    },
    {
      why: 'half of it is not enough',
      claim: claim('data').spec({ volumeName: 'pv' }),
      volumes: [volume('pv')],
      is: /^waiting: .* not fully bound yet/,
    },
    { why: 'our own write may not be seen yet', claim: claim('data'), volumes: [volume('pv')], written: '2', is: /^waiting/ },
    {
      why: 'a reservation that was seen and is there no more',
      claim: claim('data'),
      volumes: [volume('pv')],
      written: '1',
      is: /^impossible: volume pv is no longer reserved for claim default\/data; the pod/,
    },
    { why: 'the volume is gone', claim: claim('data'), is: /^impossible: volume pv is gone/ },
    {
      why: 'the volume is gone after it was bound',
      claim: claim('data').to('pv'),
      is: /^waiting: volume pv of claim default\/data does not exist yet/,
    },
    {
      why: 'the node does not reach the volume',
      claim: claim('data').to('pv'),
      volumes: [volume('pv').local('node-b')],
      is: /^impossible: .* got volume pv, which this node cannot reach/,
    },
    { why: 'the claim is gone', claim: undefined, is: /^impossible: claim default\/data: it is gone/ },
    { why: 'the claim goes', claim: claim('data').deleted(), is: /^impossible: claim default\/data: it is being deleted/ },
    { why: 'the claim is another', claim: claim('data').uid('u').to('pv'), volumes: [volume('pv')], is: /^impossible: .* created again/ },
    { why: 'the node is gone', claim: claim('data').to('pv'), volumes: [volume('pv')], gone: true, is: /^impossible: the node is gone/ },
  ];
  for (const c of cases) test(c.why, () => assert.match(progress(c, 'reserve'), c.is));
});

describe('with a volume being made', () => {
  const cases: Case[] = [
    { why: 'all is well when it is bound', claim: claim('data').madeFor('node-a').to('made'), volumes: [volume('made')], is: /^bound$/ },
    { why: 'the provisioner is waited for', claim: claim('data').madeFor('node-a'), is: /^waiting/ },
    { why: 'the volume may not be seen yet', claim: claim('data').madeFor('node-a').to('made'), is: /^waiting: volume made of claim/ },
    { why: 'our own write may not be seen yet', claim: claim('data'), written: '2', is: /^waiting/ },
    {
      why: 'the provisioner gave the node up',
      claim: claim('data'),
      written: '1',
      is: /^impossible: no volume could be provisioned on this node for claim default\/data/,
    },
    {
      why: 'somebody chose another node',
      claim: claim('data').madeFor('node-b'),
      is: /^impossible: no volume could be provisioned on this node/,
    },
    {
      why: 'it was made elsewhere',
      claim: claim('data').madeFor('node-a').to('made'),
      volumes: [volume('made').inZone('z')],
      is: /^impossible: .* got volume made/,
    },
  ];
  for (const c of cases) test(c.why, () => assert.match(progress(c, 'provision'), c.is));
});

test('what is impossible is told before what only takes time', () => {
  const decision = {
    reserve: [{ volume: volume('pv').build(), claim: claim('slow').build() }],
    provision: [{ claim: wanted, node: 'node-a' }],
  };
  const found = progressOf(decision, {
    node: node('node-a').build(),
    claim: ({ metadata }) => (metadata.name === 'slow' ? claim('slow').build() : undefined),
    volume: () => volume('pv').for('slow').build(),
    written: () => undefined,
  });
  assert.equal(found.is, 'impossible');
});
