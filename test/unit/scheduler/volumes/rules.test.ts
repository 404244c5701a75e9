import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../../../../kube/client/errors.ts';
import { podInfoOf } from '../../../../scheduler/pod/pod-info.ts';
import { Assumptions } from '../../../../scheduler/volumes/view.ts';
import { planProvision, progressOf } from '../../../../scheduler/volumes/binding.ts';
import { volumeRules } from '../../../../scheduler/volumes/rules.ts';
import { servedStorageKinds } from '../../../../scheduler/informers.ts';
import { node, pod, type PodBuilder } from '../builders.ts';
import { claim, type ClaimBuilder, csiCapacity, csiDriver, podWith, storageClass, viewOf, volume, type VolumeBuilder, type World } from './storage-builders.ts'; // prettier-ignore

// What a pod needs of storage.

const classes = [storageClass('late'), storageClass('now', { volumeBindingMode: 'Immediate' })];
const ofScratch = { volumes: [{ name: 'scratch', ephemeral: {} }] };
const withScratch = pod('web-0').spec(ofScratch);

/** Why no node can help, or the claims as they were sorted: `bound a>pv`, `delayed b`. */
function outcome(of: PodBuilder, claims: readonly ClaimBuilder[], disabled: readonly string[]): string {
  const view = viewOf({ classes, claims, volumes: [volume('there')] });
  const needs = volumeRules.needs(podInfoOf(of.build()), view, new Set(disabled));
  if (needs === undefined) return 'nothing';
  if ('reasons' in needs) return `${needs.plugin}${needs.resolvable ? '' : '!'}: ${needs.reasons.join(', ')}`;
  const bound = needs.bound.map((each) => `bound ${each.claim.metadata.name}>${each.claim.spec?.volumeName}`);
  return [...bound, ...needs.delayed.map((each) => `delayed ${each.claim.metadata.name}`)].join(' ');
}

const NOT_OWNER = 'VolumeBinding!: PVC default/web-0-scratch was not created for pod default/web-0 (pod is not owner)';
const UNMADE = 'VolumeBinding!: waiting for ephemeral volume controller to create the persistentvolumeclaim "web-0-scratch"';
const LOST = 'VolumeBinding!: persistentvolumeclaim "data" bound to non-existent persistentvolume "pv"';
const data = podWith('web-0', 'data');
const own = () => claim('data');
const needed: [why: string, is: string, of: PodBuilder, claims?: ClaimBuilder[], disabled?: string[]][] = [
  ['of files and directories', 'nothing', pod('web-0').spec({ volumes: [{ name: 'a', configMap: {} }, { name: 'b', emptyDir: {} }] })],
  ['of a bound claim', 'bound data>there', data, [own().to('there')]],
  ['of claims, the smallest first', 'delayed small delayed big', podWith('web-0', 'big', 'small'), [claim('big').class('late').asks('2Gi'), claim('small').class('late').asks('1500Mi')]],
  ['of a claim that is not there', 'VolumeBinding!: persistentvolumeclaim "data" not found', data],
  ['of a claim that lost its volume', LOST, data, [own().to('pv').phase('Lost')]],
  ['of a claim that somebody else gives its volume', 'VolumeBinding!: pod has unbound immediate PersistentVolumeClaims', data, [own().class('now')]],
  ['of a claim that is made for it, and is its own', 'delayed web-0-scratch', withScratch, [claim('web-0-scratch').class('late').ownedBy('uid-default-web-0')]],
  ['of one that is not made yet', UNMADE, withScratch],
  ['of one of the pod that was here before', NOT_OWNER, withScratch, [claim('web-0-scratch').class('late').ownedBy('uid-before')]],
  ['of a claim that is not there, where VolumeBinding is off', 'VolumeRestrictions!: persistentvolumeclaim "data" not found', data, [], ['VolumeBinding']],
  ['of the zone of a claim that is not bound', 'VolumeZone!: PersistentVolume had no name', data, [own().class('now')], ['VolumeBinding']],
]; // prettier-ignore
for (const [why, is, of, claims = [], disabled = []] of needed) test(`what a pod needs ${why}`, () => assert.equal(outcome(of, claims, disabled), is)); // prettier-ignore

test('pods with the same volume key have the same requirements', () => {
  const key = (of: PodBuilder): string => volumeRules.key(podInfoOf(of.build()));
  const disk = (name: string, pdName: string) => pod(name).spec({ volumes: [{ name: 'a', gcePersistentDisk: { pdName } }] });
  assert.equal(key(podWith('a', 'x', 'y')), key(podWith('b', 'y', 'x')));
  assert.notEqual(key(podWith('a', 'x')), key(podWith('b', 'y')));
  assert.notEqual(key(disk('a', 'x')), key(disk('b', 'y')));
  assert.notEqual(key(withScratch), key(pod('web-0').uid('u2').spec(ofScratch)));
  assert.equal(key(pod('a').spec({ volumes: [{ name: 'a', emptyDir: {} }] })), '');
});

// What is assumed of volumes and claims until the cache shows it.

const reserves = { reserve: [{ volume: volume('pv').build(), claim: own().build() }], provision: [] };
const provides = { reserve: [], provision: [{ claim: own().build(), node: 'node-a' }] };

for (const { why, seen, is, left } of [
  { why: 'reserved, while the cache shows it free', seen: volume('pv'), is: 'data uid-data', left: 1 },
  { why: 'as the cache shows it, once it does', seen: volume('pv').for('data', 'uid-data'), is: 'data uid-data', left: 0 },
  { why: 'for whom the cache shows, if it is another', seen: volume('pv').for('other'), is: 'other undefined', left: 0 },
])
  test(`a volume that is assumed to be reserved is ${why}`, () => {
    const assumed = new Assumptions();
    assumed.add('pod', reserves);
    const { claimRef } = assumed.volume(seen.build()).spec ?? {};
    assert.deepEqual([`${claimRef?.name} ${claimRef?.uid}`, assumed.size], [is, left]);
  });

for (const { why, seen, is, left } of [
  { why: 'for that node', seen: own(), is: 'node-a', left: 1 },
  { why: 'for the node that the cache shows', seen: own().madeFor('node-b'), is: 'node-b', left: 0 },
])
  test(`a claim that is assumed to have its volume made is ${why}`, () => {
    const assumed = new Assumptions();
    assumed.add('pod', provides);
    const { annotations } = assumed.claim(seen.build()).metadata;
    assert.deepEqual([annotations?.['volume.kubernetes.io/selected-node'], assumed.size], [is, left]);
  });

test('an assumption of several pods stays until the last of them is forgotten', () => {
  const assumed = new Assumptions();
  for (const holder of ['one', 'two']) for (const decision of [reserves, provides]) assumed.add(holder, decision);
  for (const holder of ['one', 'one', 'nobody']) assumed.drop(holder);
  assert.equal(assumed.size, 2);
  assumed.drop('two');
  assert.equal(assumed.size, 0);
});

// What comes of a decision.

const chosen = () => own().madeFor('node-a');
for (const { why, now, is } of [
  { why: 'is written', now: own(), is: 'patch' },
  { why: 'is written already', now: chosen(), is: 'nothing' },
  { why: 'is another', now: own().madeFor('node-b'), is: 'its volume is being provisioned for node node-b; the pod will be retried' },
])
  test(`the node for which a volume is to be made ${why}`, () => {
    const step = planProvision(now.build(), own().build(), 'node-a');
    assert.equal(step.do === 'give-up' ? step.why : step.do, is);
    const metadata = { resourceVersion: '1', uid: 'uid-data', annotations: { 'volume.kubernetes.io/selected-node': 'node-a' } };
    if (step.do === 'patch') assert.deepEqual(step.patch, { metadata }, 'the write holds for this state of this claim alone');
  });

type Seen = { volumes?: readonly VolumeBuilder[]; written?: string; gone?: boolean };
const reserved = { volumes: [volume('pv').for('data', 'uid-data')] };
const free = { volumes: [volume('pv')] };
/** @param written - the version that our write gave the volume, or the claim */
const progress: [why: string, is: RegExp, decision: object, claim: ClaimBuilder | undefined, seen?: Seen][] = [
  ['is bound', /^bound$/, reserves, own().to('pv'), reserved],
  ['waits for whoever binds claims', /^waiting: claim default\/data is not bound yet/, reserves, own(), reserved],
  ['waits for our own write to be seen', /^waiting/, reserves, own(), { ...free, written: '2' }],
  ['cannot be: the reservation was there and is no more', /^impossible: volume pv is no longer reserved for claim default\/data/, reserves, own(), { ...free, written: '1' }],
  ['cannot be: the volume is gone', /^impossible: volume pv is gone/, reserves, own()],
  ['cannot be: the node does not reach it', /^impossible: .* got volume pv, which this node cannot reach/, reserves, own().to('pv'), { volumes: [volume('pv').local('node-b')] }],
  ['cannot be: the claim is gone', /^impossible: claim default\/data: it is gone/, reserves, undefined],
  ['waits for the provisioner', /^waiting/, provides, chosen()],
  ['cannot be: the provisioner gave the node up', /^impossible: no volume could be provisioned on this node for claim default\/data/, provides, own(), { written: '1' }],
]; // prettier-ignore
for (const [why, is, decision, seen, { volumes = [], written, gone = false } = {}] of progress)
  test(`a volume that was decided on ${why}`, () => {
    const found = progressOf(decision as typeof reserves & typeof provides, {
      node: gone ? undefined : node('node-a').build(),
      claim: () => seen?.build(),
      volume: (name) => volumes.map((one) => one.build()).find(({ metadata }) => metadata.name === name),
      written: () => written,
    });
    assert.match(found.is === 'bound' ? 'bound' : `${found.is}: ${found.why}`, is);
  });

// Points for free storage.

const moreFree = [{ utilization: 0, score: 100 }, { utilization: 100, score: 0 }]; // prettier-ignore

const csi = (name: string) => storageClass(name, { provisioner: 'driver' });
const has = (of: string, capacity: string, more: object = {}) => csiCapacity(of, { nodeTopology: {}, capacity, ...more });
const asks = (name: string, of: string, storage: string) => claim(name).class(of).asks(storage);
const claims = [asks('data', 'late', '30Gi')];
const made: World = { classes: [csi('late'), csi('fast')], drivers: [csiDriver('driver', true)], claims };
const points: [why: string, points: number, world: World, shape?: typeof moreFree][] = [
  ['what is left of the storage', 70, { ...made, capacities: [has('late', '100Gi')] }],
  ['the mean of the classes, rounded', 81, { ...made, claims: [...claims, asks('logs', 'fast', '9Gi')], capacities: [has('late', '100Gi'), has('fast', '100Gi')] }],
  ['a volume that is there', 25, { classes: [storageClass('late')], claims, volumes: [volume('pv').class('late').size('40Gi')] }],
]; // prettier-ignore
for (const [why, expected, world, shape = moreFree] of points)
  test(`points for the storage of a node: ${why}`, () => {
    const view = viewOf(world);
    const names = world.claims?.map((one) => one.build().metadata.name ?? '') ?? [];
    const needs = volumeRules.needs(podInfoOf(podWith('p', ...names).build()), view);
    assert.ok(needs !== undefined && !('reasons' in needs), 'the pod needs storage');
    assert.equal(volumeRules.score(needs, node('node-a').build(), view, shape, 100), expected);
  });

// What a server has of it.

const always = ['storageclasses', 'csinodes', 'csidrivers'];
for (const { why, v1, v1beta1, is } of [
  { why: 'has all of them', v1: [...always, 'csistoragecapacities'], is: ['v1', 'v1', 'v1'] },
  { why: 'has capacities on trial', v1: always, v1beta1: ['csistoragecapacities', 'csidrivers'], is: ['v1beta1', 'v1', 'v1'] },
  { why: 'has nothing of the kind', is: [undefined, undefined, undefined] },
])
  test(`a server ${why}`, async () => {
    const raw = async (_: unknown, path: string): Promise<unknown> => {
      const names = path.endsWith('/v1') ? v1 : v1beta1;
      if (names !== undefined) return { resources: names.map((name) => ({ name })) };
      throw new ApiError({ method: 'GET', path, host: 'h' }, { code: 404, reason: 'NotFound', message: 'gone' });
    };
    const { csiStorageCapacities, csiDrivers, csiNodes } = await servedStorageKinds({ raw });
    assert.deepEqual([csiStorageCapacities?.version, csiDrivers?.version, csiNodes?.version], is);
  });
