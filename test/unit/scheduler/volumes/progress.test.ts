import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { planProvision, planReservation, progressOf, type Step } from '../../../../scheduler/volumes/binding.ts';
import { node } from '../builders.ts';
import { claim, volume, type ClaimBuilder, type VolumeBuilder } from './storage-builders.ts';

const wanted = claim('data').build();
const inShort = (step: Step): string => (step.do === 'give-up' ? step.why.replace(/; the pod will be retried$/, '') : step.do);

const ANEW = 'it was created again under its name';

describe('to reserve a volume', () => {
  const row = (why: string, is: string, of: VolumeBuilder | undefined, now: ClaimBuilder | undefined = claim('data')) => ({
    why,
    is,
    of,
    now,
  });
  const cases = [
    row('that is free, it is written', 'patch', volume('pv')),
    row('that a person reserved by name, it is written', 'patch', volume('pv').for('data')),
    row('that is reserved already, nothing is left', 'nothing', volume('pv').for('data', 'uid-data')),
    row('for a claim that got one in the meantime, nothing is done', 'nothing', volume('pv'), claim('data').spec({ volumeName: 'x' })),
    row('that somebody else has, cannot be', 'it is already reserved for claim default/other', volume('pv').for('other', 'u')),
    row('for a claim that was here before, cannot be', 'it is already reserved for claim default/data', volume('pv').for('data', 'u')),
    row('that is gone, cannot be', 'it is gone', undefined),
    row('for a claim that goes, cannot be', 'claim default/data: it is being deleted', volume('pv'), claim('data').deleted()),
    row('for another claim of this name, cannot be', `claim default/data: ${ANEW}`, volume('pv'), claim('data').uid('u')),
  ];
  for (const c of cases) test(c.why, () => assert.equal(inShort(planReservation(c.of?.build(), c.now?.build(), wanted)), c.is));

  test('for a claim that is gone, cannot be', () =>
    assert.equal(inShort(planReservation(volume('pv').build(), undefined, wanted)), 'claim default/data: it is gone'));

  const ofData = { namespace: 'default', name: 'data', uid: 'uid-data', resourceVersion: '1' };
  test('the write holds for this state of this volume alone, and says who chose it', () => {
    assert.deepEqual(planReservation(volume('pv').build(), wanted, wanted), {
      do: 'patch',
      patch: {
        metadata: { resourceVersion: '1', uid: 'uid-pv', annotations: { 'pv.kubernetes.io/bound-by-controller': 'yes' } },
        spec: { claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', ...ofData } },
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
    row('another volume is as well', /^bound$/, claim('data').to('other'), { volumes: [volume('other')] }),
    row('whoever binds claims is waited for', /^waiting: claim default\/data is not bound yet/, claim('data'), { volumes: [reserved] }),
    row('half of it is not enough', /^waiting: .* not fully bound yet/, claim('data').spec({ volumeName: 'pv' }), free),
    row('our own write may not be seen yet', /^waiting/, claim('data'), { ...free, written: '2' }),
    row('a reservation that was seen and is there no more', lost, claim('data'), { ...free, written: '1' }),
    row('the volume is gone', /^impossible: volume pv is gone/, claim('data')),
    row('the volume is gone after it was bound', /^waiting: volume pv of claim default\/data does not exist yet/, bound()),
    row('the node does not reach the volume', unreachable, bound(), { volumes: [volume('pv').local('node-b')] }),
    row('the claim is gone', /^impossible: claim default\/data: it is gone/, undefined),
    row('the claim goes', /^impossible: claim default\/data: it is being deleted/, claim('data').deleted()),
    row('the claim is another', /^impossible: .* created again/, bound().uid('u'), free),
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
    row('the volume may not be seen yet', /^waiting: volume made of claim/, chosen().to('made')),
    row('our own write may not be seen yet', /^waiting/, claim('data'), { written: '2' }),
    row('the provisioner gave the node up', given, claim('data'), { written: '1' }),
    row('somebody chose another node', given, claim('data').madeFor('node-b')),
    row('it was made elsewhere', /^impossible: .* got volume made/, chosen().to('made'), { volumes: [volume('made').inZone('z')] }),
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
