import { node } from '../builders.ts';
import { row, table } from './filter-table.ts';
import { claim, csiCapacity, csiDriver, podWith, storageClass, volume, type World } from './storage-builders.ts';

const AFFINITY = 'VolumeBinding!: node(s) had volume node affinity conflict';
const NONE = "VolumeBinding!: node(s) didn't find available persistent volumes to bind";
const NO_SPACE = 'VolumeBinding!: node(s) did not have enough free storage';
const GONE = 'VolumeBinding!: node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)';
const ZONE = 'VolumeZone!: node(s) had no available volume zone';

const bound = (of: ReturnType<typeof volume>): World => ({ claims: [claim('data').to('pv')], volumes: [of] });
const byName = { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['node-b'] }] };
const on = (key: string, value: string) => ({ matchExpressions: [{ key, operator: 'In', values: [value] }] });
const twoClaims = {
  claims: [claim('data').to('pv'), claim('more').class('late')],
  classes: [storageClass('late')],
  pod: podWith('p', 'data', 'more'),
};
const FAR_AND_NONE = `${AFFINITY}, node(s) didn't find available persistent volumes to bind`;
const NONE_AND_GONE = `${NONE}, node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)`;
table('a volume that is there:', [
  row('can be reached from all nodes', 'ok', { ...bound(volume('pv')) }),
  row('is on this machine', 'ok', { ...bound(volume('pv').local('node-a')) }),
  row('is on another machine', AFFINITY, { ...bound(volume('pv').local('node-b')) }),
  row('is gone', GONE, { disabled: ['VolumeZone'], claims: [claim('data').to('pv')] }),
  row('is tied to the name of a node, which nobody reads of a volume', 'ok', { ...bound(volume('pv').reachedBy(byName)) }),
  row('is tied to a name and to labels', AFFINITY, {
    ...bound(volume('pv').reachedBy({ ...byName, ...on('kubernetes.io/hostname', 'node-b') })),
  }),
  row('is on another machine, and another one is missing', FAR_AND_NONE, { ...twoClaims, volumes: [volume('pv').local('node-b')] }),
  row('is gone, and another one is missing', NONE_AND_GONE, { ...twoClaims, disabled: ['VolumeZone'] }),
  row('a profile that does not ask', 'ok', { ...bound(volume('pv').local('node-b')), disabled: ['VolumeBinding'] }),
]);

const late = { classes: [storageClass('late')], claims: [claim('data').class('late').asks('2Gi')] };
const fitting = (name: string) => volume(name).class('late').size('2Gi');
const finds = (...volumes: ReturnType<typeof volume>[]) => ({ ...late, volumes });
const large = fitting('x').local('node-a').size('4Gi');
const either = fitting('x').reachedBy(on('kubernetes.io/hostname', 'node-b'), on('topology.kubernetes.io/zone', 'z'));
const gold = fitting('y').labels({ tier: 'gold' });
const selecting = (selector: object) => claim('data').class('late').spec({ selector });
table('a volume to be found:', [
  row('there is none', NONE, { ...late }),
  row('of the right size', 'ok data=pv', { ...late, volumes: [fitting('pv')] }),
  row('too small', NONE, { ...late, volumes: [fitting('pv').size('2047Mi')] }),
  row(
    'the smallest that is large enough',
    'ok data=y',
    finds(fitting('x').size('9Gi'), fitting('y').size('3Gi'), fitting('z').size('1Gi')),
  ),
  row('among equals by name', 'ok data=x', { ...late, volumes: [fitting('y'), fitting('x')] }),
  row('of another class', NONE, { ...late, volumes: [fitting('pv').class('other')] }),
  row('with fewer ways of access', NONE, { ...late, volumes: [fitting('pv').modes('ReadOnlyMany')] }),
  row('with more ways of access', 'ok data=pv', { ...late, volumes: [fitting('pv').modes('ReadOnlyMany', 'ReadWriteOnce')] }),
  row('a block device for a directory', NONE, { ...late, volumes: [fitting('pv').spec({ volumeMode: 'Block' })] }),
  row('a directory is what is meant when nothing is said', 'ok data=pv', finds(fitting('pv').spec({ volumeMode: 'Filesystem' }))),
  row('of another attributes class', NONE, { ...late, volumes: [fitting('pv').spec({ volumeAttributesClassName: 'gold' })] }),
  row('not free', NONE, { ...late, volumes: [fitting('pv').phase('Released')] }),
  row('on its way out', NONE, { ...late, volumes: [fitting('pv').deleted()] }),
  row('reserved for another claim', NONE, { ...late, volumes: [fitting('pv').for('other')] }),
  row('reserved for a claim that was here before', NONE, { ...late, volumes: [fitting('pv').for('data', 'before')] }),
  row('reserved for this claim, before smaller ones', 'ok data=y', finds(fitting('x'), fitting('y').size('9Gi').for('data'))),
  row('reserved for this claim and chosen already', 'ok data=x', { ...late, volumes: [fitting('x').for('data', 'uid-data')] }),
  row('reserved for this claim on another machine', NONE, { ...late, volumes: [fitting('x'), fitting('y').for('data').local('node-b')] }),
  row('on this machine', 'ok data=y', { ...late, volumes: [fitting('x').local('node-b'), fitting('y').local('node-a').size('3Gi')] }),
  row('on this machine, though others are smaller', 'ok data=x', finds(large, fitting('y').size('3Gi').inZone('z'))),
  row('anywhere, smaller than on this machine', 'ok data=y', finds(large, fitting('y').size('3Gi'))),
  row('in another zone', NONE, { ...late, node: node('node-a').zone('a'), volumes: [fitting('x').inZone('b')] }),
  row('on another machine or in this zone', 'ok data=x', { ...finds(either), node: node('node-a').zone('z') }),
  row('each claim its own, the small one first', 'ok small=y big=x', {
    classes: [storageClass('late')],
    claims: [claim('big').class('late').asks('2Gi'), claim('small').class('late').asks('1Gi')],
    pod: podWith('p', 'big', 'small'),
    volumes: [fitting('x').size('3Gi'), fitting('y').size('2Gi')],
  }),
  row('one for two claims', NONE, {
    classes: [storageClass('late')],
    claims: [claim('one').class('late'), claim('two').class('late')],
    pod: podWith('p', 'one', 'two'),
    volumes: [fitting('x')],
  }),
  row('selected by labels', 'ok data=y', { ...finds(fitting('x'), gold), claims: [selecting({ matchLabels: { tier: 'gold' } })] }),
  row('selected by what nobody can read', NONE, {
    ...finds(gold),
    claims: [selecting({ matchExpressions: [{ key: 'tier', operator: 'Near' }] })],
  }),
]);

const provisioner = 'driver';
const made = { ...late, classes: [storageClass('late', { provisioner: 'driver' })] };
const allowing = (...zones: string[][]) => [
  storageClass('late', {
    provisioner: 'driver',
    allowedTopologies: zones.map((values) => ({ matchLabelExpressions: [{ key: 'topology.kubernetes.io/zone', values }] })),
  }),
];
const chosen = claim('data').class('late').madeFor('node-a');
table('a volume to be made:', [
  row('on any node', 'ok data@node-a', { ...made }),
  row('only where none is found', 'ok data=pv', { ...made, volumes: [fitting('pv')] }),
  row('one found, one made', 'ok more=pv data@node-a', {
    ...made,
    claims: [...made.claims, claim('more').class('late').asks('1Gi')],
    pod: podWith('p', 'data', 'more'),
    volumes: [fitting('pv').size('1Gi')],
  }),
  row('where the class allows it', 'ok data@node-a', { ...made, classes: allowing(['x'], ['y', 'z']), node: node('node-a').zone('z') }),
  row('where the class does not allow it', NONE, { ...made, classes: allowing(['x'], ['y']), node: node('node-a').zone('z') }),
  row('on a node without a zone, where the class asks for one', NONE, { ...made, classes: allowing(['x']) }),
  row('a term that asks for nothing allows nothing', NONE, {
    ...made,
    classes: [storageClass('late', { provisioner, allowedTopologies: [{}] })],
  }),
  row('it is being made for this node', 'ok data@node-a', { ...made, claims: [claim('data').class('late').madeFor('node-a')] }),
  row('it is being made for another node', NONE, { ...made, claims: [claim('data').class('late').madeFor('node-b')] }),
  row('it is being made, so that none is looked for', 'ok data@node-a', { ...made, claims: [chosen], volumes: [fitting('pv')] }),
  row('none instead of one that is reserved on another machine', NONE, { ...made, volumes: [fitting('y').for('data').local('node-b')] }),
]);

const counted = { ...made, drivers: [csiDriver('driver', true)] };
const near = (zone: string) => ({ nodeTopology: { matchLabels: { 'topology.kubernetes.io/zone': zone } } });
const inZone = (where: Parameters<typeof csiCapacity>[1], capacity: string) => ({
  ...counted,
  node: node('node-a').zone('a'),
  capacities: [csiCapacity('late', { ...where, capacity })],
});
table('space for a volume to be made:', [
  row('the driver does not say', 'ok data@node-a', { ...counted, drivers: [csiDriver('driver', false)] }),
  row('nobody knows the driver', 'ok data@node-a', { ...counted, drivers: [] }),
  row('the driver has told nothing yet', NO_SPACE, { ...counted }),
  row('enough near the node', 'ok data@node-a', inZone(near('a'), '2Gi')),
  row('too little near the node', NO_SPACE, inZone(near('a'), '2047Mi')),
  row('enough elsewhere', NO_SPACE, inZone(near('b'), '9Gi')),
  row('enough nowhere in particular', NO_SPACE, inZone({}, '9Gi')),
  row('enough everywhere', 'ok data@node-a', inZone({ nodeTopology: {} }, '9Gi')),
  row('enough, but not in one piece', NO_SPACE, inZone({ maximumVolumeSize: '1Gi', nodeTopology: {} }, '9Gi')),
  row('of a size that is not said', NO_SPACE, { ...counted, capacities: [csiCapacity('late', { nodeTopology: {} })] }),
  row('of another class', NO_SPACE, { ...counted, capacities: [csiCapacity('other', { capacity: '9Gi', nodeTopology: {} })] }),
  row('a claim that does not say how much', 'ok data@node-a', {
    ...counted,
    claims: [claim('data').class('late').spec({ resources: {} })],
  }),
]);

const BETA = 'failure-domain.beta.kubernetes.io/zone';
const GA = 'topology.kubernetes.io/zone';
const REGION = 'topology.kubernetes.io/region';
const zoned = (labels: Record<string, string>) => bound(volume('pv').labels(labels));
table('the zone of a volume:', [
  row("is the node's", 'ok', { ...zoned({ [GA]: 'a' }), node: node('n').zone('a') }),
  row('is another', ZONE, { ...zoned({ [GA]: 'a' }), node: node('n').zone('b') }),
  row('is one of several', 'ok', { ...zoned({ [GA]: 'a__b' }), node: node('n').zone('b') }),
  row('is none of several', ZONE, { ...zoned({ [GA]: 'a__b' }), node: node('n').zone('ab') }),
  row('cannot be read', 'ok', { ...zoned({ [GA]: 'a__' }), node: node('n').zone('b') }),
  row('does not matter to a node without one', 'ok', { ...zoned({ [GA]: 'a' }), node: node('n') }),
  row('is not said, while the node has one', 'ok', { ...zoned({}), node: node('n').zone('a') }),
  row('has its old name on both', ZONE, { ...zoned({ [BETA]: 'a' }), node: node('n').labels({ [BETA]: 'b' }) }),
  row('has its old name on the volume', 'ok', { ...zoned({ [BETA]: 'a' }), node: node('n').zone('a') }),
  row('has its old name on the node alone, which is not read for the new one', ZONE, {
    ...zoned({ [GA]: 'a' }),
    node: node('n').labels({ [BETA]: 'a' }),
  }),
  row('fits, but not the region', ZONE, { ...zoned({ [GA]: 'a', [REGION]: 'other' }), node: node('n').zone('a') }),
  row('a node with a region alone', ZONE, { ...zoned({ [GA]: 'a' }), node: node('n').labels({ [REGION]: 'r' }) }),
  row('a profile that does not ask', 'ok', { ...zoned({ [GA]: 'a' }), node: node('n').zone('b'), disabled: ['VolumeZone'] }),
]);
