import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { podInfoOf } from '../../../../scheduler/pod/pod-info.ts';
import { volumeRules } from '../../../../scheduler/volumes/rules.ts';
import { pod, type PodBuilder } from '../builders.ts';
import { claim, type ClaimBuilder, podWith, storageClass, viewOf, volume, type World } from './storage-builders.ts';

const classes = [storageClass('late'), storageClass('now', { volumeBindingMode: 'Immediate' })];
const scratch = () => claim('web-0-scratch').class('late');
const scratchVolumes = [{ name: 'scratch', ephemeral: {} }];
const withScratch = pod('web-0').spec({ volumes: scratchVolumes });

/** Why no node can help, or the claims as they were sorted: `bound a>pv`, `delayed b`. */
function outcome(of: PodBuilder, world: World, disabled?: ReadonlySet<string>): string {
  const needs = volumeRules.needs(podInfoOf(of.build()), viewOf({ classes, ...world }), disabled);
  if (needs === undefined) return 'nothing';
  if ('reasons' in needs) return `${needs.plugin}${needs.resolvable ? '' : '!'}: ${needs.reasons.join(', ')}`;
  const bound = needs.bound.map((each) => `bound ${each.claim.metadata.name}>${each.claim.spec?.volumeName}`);
  const delayed = needs.delayed.map((each) => `delayed ${each.claim.metadata.name}`);
  return [...bound, ...delayed].join(' ') || 'no claims';
}

const UNBOUND = 'VolumeBinding!: pod has unbound immediate PersistentVolumeClaims';
const NOT_OWNER = 'VolumeBinding!: PVC default/web-0-scratch was not created for pod default/web-0 (pod is not owner)';

const LOST = 'VolumeBinding!: persistentvolumeclaim "data" bound to non-existent persistentvolume "pv"';

describe('what a pod needs of storage:', () => {
  const withVolumes = (...volumes: object[]) => pod('web-0').spec({ volumes: volumes.map((one, at) => ({ name: `v${at}`, ...one })) });
  const files = [
    { configMap: {} },
    { secret: {} },
    { emptyDir: {} },
    { projected: { sources: [] } },
    { downwardAPI: {} },
    { hostPath: { path: '/' } },
  ];
  const row = (why: string, is: string, of: PodBuilder, ...claims: ClaimBuilder[]) => ({ why, is, of, claims });
  const data = podWith('web-0', 'data');
  const cases = [
    row('files and directories do not matter', 'nothing', withVolumes(...files)),
    row('a bound claim', 'bound data>there', data, claim('data').to('there')),
    row(
      'the smallest claim gets its volume first',
      'delayed small delayed big',
      podWith('web-0', 'big', 'small'),
      claim('big').class('late').asks('2Gi'),
      claim('small').class('late').asks('1500Mi'),
    ),
    row('a claim that is not there', 'VolumeBinding!: persistentvolumeclaim "data" not found', data, claim('other').to('pv')),
    row('a claim on its way out', 'VolumeBinding!: persistentvolumeclaim "data" is being deleted', data, claim('data').to('pv').deleted()),
    row('a claim that lost its volume', LOST, data, claim('data').to('pv').phase('Lost')),
    row('a claim that somebody else gives its volume', UNBOUND, data, claim('data').class('now')),
    row('such a claim is of the pod that was here before', NOT_OWNER, withScratch, scratch().ownedBy('uid-before')),
  ];
  for (const { why, is, of, claims } of cases) test(why, () => assert.equal(outcome(of, { claims, volumes: [volume('there')] }), is));

  const gone = 'persistentvolumeclaim "data" not found';
  const without = (why: string, is: string, claims: ClaimBuilder[] = [], off: string[] = [], of = data) => ({ why, is, claims, off, of });
  const withoutBinding = [
    without('refuses a pod whose claim is not there', `VolumeRestrictions!: ${gone}`),
    without('waits for the zone of a claim that is not bound', 'VolumeZone!: PersistentVolume had no name', [claim('data').class('now')]),
    without('knows no zone without a class', 'VolumeZone!: PersistentVolumeClaim had no pv name and storageClass name', [claim('data')]),
  ];
  for (const { why, is, claims, off, of } of withoutBinding)
    test(`a profile without VolumeBinding ${why}`, () => assert.equal(outcome(of, { claims }, new Set(['VolumeBinding', ...off])), is));
});

describe('the key of volumes', () => {
  const key = (of: PodBuilder): string => volumeRules.key(podInfoOf(of.build()));

  const row = (why: string, same: boolean, ...pods: PodBuilder[]) => ({ why, same, pods });
  const cases = [
    row('differs by claim', false, podWith('a', 'x'), podWith('b', 'y')),
    row(
      'is one of its own for a pod with a claim made for it',
      false,
      withScratch,
      pod('web-0').uid('u2').spec({ volumes: scratchVolumes }),
    ),
  ];
  for (const c of cases) {
    test(c.why, () => {
      const [a, b] = c.pods.map(key);
      assert.notEqual(a, '');
      assert.equal(a === b, c.same);
    });
  }

  test('is empty where storage does not matter', () => {
    assert.equal(key(pod('a')), '');
    const volumes = [
      { name: 'a', emptyDir: {} },
      { name: 'b', csi: { driver: 'secrets' } },
    ];
    assert.equal(key(pod('a').spec({ volumes })), '');
  });
});
