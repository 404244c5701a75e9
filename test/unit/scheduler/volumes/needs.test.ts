import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { podInfoOf } from '../../../../scheduler/pod/pod-info.ts';
import { volumeRules } from '../../../../scheduler/volumes/rules.ts';
import { pod, type PodBuilder } from '../builders.ts';
import { claim, podWith, storageClass, viewOf, volume, type World } from './storage-builders.ts';

const classes = [storageClass('late'), storageClass('now', { volumeBindingMode: 'Immediate' })];
const withScratch = pod('web-0').spec({ volumes: [{ name: 'scratch', ephemeral: {} }] });

/** Why no node can help, or the claims as they were sorted: `bound a>pv`, `delayed b`. */
function outcome(of: PodBuilder, world: World, disabled?: ReadonlySet<string>): string {
  const needs = volumeRules.needs(podInfoOf(of.build()), viewOf({ classes, ...world }), disabled);
  if (needs === undefined) return 'nothing';
  if ('reasons' in needs) return `${needs.plugin}${needs.resolvable ? '' : '!'}: ${needs.reasons.join(', ')}`;
  const bound = needs.bound.map((each) => `bound ${each.claim.metadata.name}>${each.claim.spec?.volumeName}`);
  const delayed = needs.delayed.map((each) => `delayed ${each.claim.metadata.name}`);
  return [...bound, ...delayed].join(' ') || 'no claims';
}

describe('what a pod needs of storage:', () => {
  const row = (why: string, is: string, more: { pod?: PodBuilder; world?: World } = {}) => ({ why, is, ...more });
  const cases: { why: string; pod?: PodBuilder; world?: World; is: string }[] = [
    row('no volumes, nothing', 'nothing', { pod: pod('web-0') }),
    row('files and directories do not matter', 'nothing', {
      pod: pod('web-0').spec({
        volumes: [
          { name: 'a', configMap: {} },
          { name: 'b', secret: {} },
          { name: 'c', emptyDir: {} },
          { name: 'd', projected: { sources: [] } },
          { name: 'e', downwardAPI: {} },
          { name: 'f', hostPath: { path: '/' } },
        ],
      }),
    }),
    row('a disk that the pod names itself', 'no claims', {
      pod: pod('web-0').spec({ volumes: [{ name: 'a', gcePersistentDisk: { pdName: 'x' } }] }),
    }),
    row('a bound claim', 'bound data>pv', { world: { claims: [claim('data').to('pv')], volumes: [volume('pv')] } }),
    row('a volume that is not there', 'VolumeZone!: persistentvolume "pv" not found', { world: { claims: [claim('data').to('pv')] } }),
    row('the same claim twice is one', 'delayed data', {
      pod: podWith('web-0', 'data', 'data'),
      world: { claims: [claim('data').class('late')] },
    }),
    row('the smallest claim gets its volume first', 'delayed small delayed big', {
      pod: podWith('web-0', 'big', 'small'),
      world: { claims: [claim('big').class('late').asks('2Gi'), claim('small').class('late').asks('1500Mi')] },
    }),
    row('a claim that is not there', 'VolumeBinding!: persistentvolumeclaim "data" not found', {
      world: { claims: [claim('other').to('pv')] },
    }),
    row('a claim on its way out', 'VolumeBinding!: persistentvolumeclaim "data" is being deleted', {
      world: { claims: [claim('data').to('pv').deleted()] },
    }),
    row('a claim that lost its volume', 'VolumeBinding!: persistentvolumeclaim "data" bound to non-existent persistentvolume "pv"', {
      world: { claims: [claim('data').to('pv').phase('Lost')] },
    }),
    row('a claim that somebody else gives its volume', 'VolumeBinding!: pod has unbound immediate PersistentVolumeClaims', {
      world: { claims: [claim('data').class('now')] },
    }),
    row('a claim without a class', 'VolumeBinding!: pod has unbound immediate PersistentVolumeClaims', {
      world: { claims: [claim('data')] },
    }),
    row('a claim of a class that is not there', 'VolumeBinding!: pod has unbound immediate PersistentVolumeClaims', {
      world: { claims: [claim('data').class('gone')] },
    }),
    row(
      'a claim that names its volume, and is not bound yet, waits for nobody',
      'VolumeBinding!: pod has unbound immediate PersistentVolumeClaims',
      { world: { claims: [claim('data').class('late').spec({ volumeName: 'pv' })] } },
    ),
    row('the old annotation names the class as well', 'delayed data', {
      world: { claims: [claim('data').class('now').annotated('volume.beta.kubernetes.io/storage-class', 'late')] },
    }),
    row('a claim made for the pod alone', 'delayed web-0-scratch', {
      pod: withScratch,
      world: { claims: [claim('web-0-scratch').class('late').ownedBy('uid-default-web-0')] },
    }),
    row(
      'such a claim is not made yet',
      'VolumeBinding!: waiting for ephemeral volume controller to create the persistentvolumeclaim "web-0-scratch"',
      { pod: withScratch },
    ),
    row(
      'such a claim is of the pod that was here before',
      'VolumeBinding!: PVC default/web-0-scratch was not created for pod default/web-0 (pod is not owner)',
      { pod: withScratch, world: { claims: [claim('web-0-scratch').class('late').ownedBy('uid-before')] } },
    ),
    row("such a claim is nobody's", 'VolumeBinding!: PVC default/web-0-scratch was not created for pod default/web-0 (pod is not owner)', {
      pod: withScratch,
      world: { claims: [claim('web-0-scratch').class('late')] },
    }),
  ];
  for (const c of cases) test(c.why, () => assert.equal(outcome(c.pod ?? podWith('web-0', 'data'), c.world ?? {}), c.is));

  const off = (...names: string[]): ReadonlySet<string> => new Set(['VolumeBinding', ...names]);
  const gone = 'persistentvolumeclaim "data" not found';
  const late: World = { claims: [claim('data').class('late')] };
  const unmade: World = { claims: [claim('data').class('now')] };
  const withoutBinding: { why: string; disabled: ReadonlySet<string>; pod?: PodBuilder; world?: World; is: string }[] = [
    { why: 'refuses a pod whose claim is not there', disabled: off(), is: `VolumeRestrictions!: ${gone}` },
    { why: 'and without VolumeRestrictions too', disabled: off('VolumeRestrictions'), is: `VolumeZone!: ${gone}` },
    { why: 'and no more without VolumeZone too', disabled: off('VolumeRestrictions', 'VolumeZone'), is: 'no claims' },
    { why: 'does not wait for a claim that is made for the pod', disabled: off(), pod: withScratch, is: 'no claims' },
    {
      why: 'waits for the zone of a claim that is not bound',
      disabled: off(),
      world: unmade,
      is: 'VolumeZone!: PersistentVolume had no name',
    },
    { why: 'but not without VolumeZone', disabled: off('VolumeZone'), world: unmade, is: 'no claims' },
    {
      why: 'knows no zone without a class',
      disabled: off(),
      world: { claims: [claim('data')] },
      is: 'VolumeZone!: PersistentVolumeClaim had no pv name and storageClass name',
    },
    {
      why: 'knows no zone of a class that is not there',
      disabled: off(),
      world: { claims: [claim('data').class('gone')] },
      is: 'VolumeZone!: storageclass.storage.k8s.io "gone" not found',
    },
    {
      why: 'knows no zone of a volume that is not there',
      disabled: off(),
      world: { claims: [claim('data').to('pv')] },
      is: 'VolumeZone!: persistentvolume "pv" not found',
    },
    { why: 'takes a claim whose volume is made for the pod', disabled: off(), world: late, is: 'delayed data' },
  ];
  for (const { why, disabled, pod: of = podWith('web-0', 'data'), world = {}, is } of withoutBinding)
    test(`a profile without VolumeBinding ${why}`, () => assert.equal(outcome(of, world, disabled), is));
});

describe('the key of volumes', () => {
  const key = (of: PodBuilder): string => volumeRules.key(podInfoOf(of.build()));
  const disk = (name: string, pdName: string, readOnly = false) =>
    pod(name).spec({ volumes: [{ name: 'a', gcePersistentDisk: { pdName, readOnly } }] });
  const cases = [
    { why: 'is the same for pods of the same claims, in any order', pods: [podWith('a', 'x', 'y'), podWith('b', 'y', 'x')], same: true },
    { why: 'differs by claim', pods: [podWith('a', 'x'), podWith('b', 'y')], same: false },
    { why: 'differs by namespace', pods: [podWith('one/a', 'x'), podWith('two/a', 'x')], same: false },
    {
      why: 'is one of its own for a pod with a claim made for it',
      pods: [
        withScratch,
        pod('web-0')
          .uid('u2')
          .spec({ volumes: [{ name: 'scratch', ephemeral: {} }] }),
      ],
      same: false,
    },
    { why: 'is the same for the same disk', pods: [disk('a', 'x'), disk('b', 'x')], same: true },
    { why: 'differs by disk', pods: [disk('a', 'x'), disk('b', 'y')], same: false },
    { why: 'differs between readers and writers', pods: [disk('a', 'x'), disk('b', 'x', true)], same: false },
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
    assert.equal(
      key(
        pod('a').spec({
          volumes: [
            { name: 'a', emptyDir: {} },
            { name: 'b', csi: { driver: 'secrets' } },
          ],
        }),
      ),
      '',
    );
  });
});
