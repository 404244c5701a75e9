import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Assumptions } from '../../../../scheduler/volumes/assumptions.ts';
import { claim, volume, type ClaimBuilder, type VolumeBuilder } from './storage-builders.ts';

const data = claim('data').build();
const reserves = { reserve: [{ volume: volume('pv').build(), claim: data }], provision: [] };
const provides = { reserve: [], provision: [{ claim: data, node: 'node-a' }] };

describe('a volume that is assumed to be reserved', () => {
  const cases: { why: string; seen: VolumeBuilder; is: string; left: number }[] = [
    { why: 'is reserved, while the cache shows it free', seen: volume('pv'), is: 'data uid-data', left: 1 },
    { why: 'as the cache shows it, once it does', seen: volume('pv').for('data', 'uid-data'), is: 'data uid-data', left: 0 },
    { why: 'for whom the cache shows, if it is another', seen: volume('pv').for('other'), is: 'other undefined', left: 0 },
  ];
  for (const { why, seen, is, left } of cases)
    test(why, () => {
      const assumed = new Assumptions();
      assumed.add('pod', reserves);
      const { claimRef } = assumed.volume(seen.build()).spec ?? {};
      assert.equal(`${claimRef?.name} ${claimRef?.uid}`, is);
      assert.equal(assumed.size, left);
    });
});

describe('a claim that is assumed to have its volume made', () => {
  const cases: { why: string; seen: ClaimBuilder; is: string | undefined; left: number }[] = [
    { why: 'is for that node', seen: claim('data'), is: 'node-a', left: 1 },
    { why: 'is for the node that the cache shows', seen: claim('data').madeFor('node-b'), is: 'node-b', left: 0 },
  ];
  for (const { why, seen, is, left } of cases)
    test(why, () => {
      const assumed = new Assumptions();
      assumed.add('pod', provides);
      assert.equal(assumed.claim(seen.build()).metadata.annotations?.['volume.kubernetes.io/selected-node'], is);
      assert.equal(assumed.size, left);
    });
});

test('what several pods assume stays until the last of them lets go', () => {
  const assumed = new Assumptions();
  for (const pod of ['one', 'two']) {
    assumed.add(pod, reserves);
    assumed.add(pod, provides);
  }
  assert.equal(assumed.size, 2);
  assumed.drop('one');
  assumed.drop('one');
  assumed.drop('nobody');
  assert.equal(assumed.size, 2);
  assumed.drop('two');
  assert.equal(assumed.size, 0);
  assert.equal(assumed.volume(volume('pv').build()).spec?.claimRef, undefined);
});
