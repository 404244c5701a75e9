import { node } from '../builders.ts';
import { table } from './filter-table.ts';
import { claim, csiCapacity, csiDriver, podWith, storageClass, volume, type World } from './storage-builders.ts';

const AFFINITY = 'VolumeBinding!: node(s) had volume node affinity conflict';
const NONE = "VolumeBinding!: node(s) didn't find available persistent volumes to bind";
const NO_SPACE = 'VolumeBinding!: node(s) did not have enough free storage';
const GONE = 'VolumeBinding!: node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)';
const ZONE = 'VolumeZone!: node(s) had no available volume zone';

const bound = (of: ReturnType<typeof volume>): World => ({ claims: [claim('data').to('pv')], volumes: [of] });
table('a volume that is there:', [
  { why: 'can be reached from all nodes', ...bound(volume('pv')), is: 'ok' },
  { why: 'is on this machine', ...bound(volume('pv').local('node-a')), is: 'ok' },
  { why: 'is on another machine', ...bound(volume('pv').local('node-b')), is: AFFINITY },
  { why: 'is gone', claims: [claim('data').to('pv')], is: GONE },
  {
    why: 'is tied to the name of a node, which the kubelet would not take',
    ...bound(volume('pv').reachedBy({ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['node-a'] }] })),
    is: AFFINITY,
  },
  {
    why: 'is on another machine, and another one is missing',
    claims: [claim('data').to('pv'), claim('more').class('late')],
    volumes: [volume('pv').local('node-b')],
    classes: [storageClass('late')],
    pod: podWith('p', 'data', 'more'),
    is: `${AFFINITY}, node(s) didn't find available persistent volumes to bind`,
  },
  {
    why: 'is gone, and another one is missing',
    claims: [claim('data').to('pv'), claim('more').class('late')],
    classes: [storageClass('late')],
    pod: podWith('p', 'data', 'more'),
    is: `${NONE}, node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)`,
  },
  { why: 'a profile that does not ask', ...bound(volume('pv').local('node-b')), disabled: ['VolumeBinding'], is: 'ok' },
]);

const on = (key: string, value: string) => ({ matchExpressions: [{ key, operator: 'In', values: [value] }] });
const late = { classes: [storageClass('late')], claims: [claim('data').class('late').asks('2Gi')] };
const fitting = (name: string) => volume(name).class('late').size('2Gi');
table('a volume to be found:', [
  { why: 'there is none', ...late, is: NONE },
  { why: 'of the right size', ...late, volumes: [fitting('pv')], is: 'ok data=pv' },
  { why: 'too small', ...late, volumes: [fitting('pv').size('2047Mi')], is: NONE },
  {
    why: 'the smallest that is large enough',
    ...late,
    volumes: [fitting('x').size('9Gi'), fitting('y').size('3Gi'), fitting('z').size('1Gi')],
    is: 'ok data=y',
  },
  { why: 'among equals by name', ...late, volumes: [fitting('y'), fitting('x')], is: 'ok data=x' },
  { why: 'of another class', ...late, volumes: [fitting('pv').class('other')], is: NONE },
  { why: 'with fewer ways of access', ...late, volumes: [fitting('pv').modes('ReadOnlyMany')], is: NONE },
  { why: 'with more ways of access', ...late, volumes: [fitting('pv').modes('ReadOnlyMany', 'ReadWriteOnce')], is: 'ok data=pv' },
  { why: 'a block device for a directory', ...late, volumes: [fitting('pv').spec({ volumeMode: 'Block' })], is: NONE },
  {
    why: 'a directory is what is meant when nothing is said',
    ...late,
    volumes: [fitting('pv').spec({ volumeMode: 'Filesystem' })],
    is: 'ok data=pv',
  },
  { why: 'of another attributes class', ...late, volumes: [fitting('pv').spec({ volumeAttributesClassName: 'gold' })], is: NONE },
  { why: 'not free', ...late, volumes: [fitting('pv').phase('Released')], is: NONE },
  { why: 'on its way out', ...late, volumes: [fitting('pv').deleted()], is: NONE },
  { why: 'reserved for another claim', ...late, volumes: [fitting('pv').for('other')], is: NONE },
  { why: 'reserved for a claim that was here before', ...late, volumes: [fitting('pv').for('data', 'before')], is: NONE },
  {
    why: 'reserved for this claim, before smaller ones',
    ...late,
    volumes: [fitting('x'), fitting('y').size('9Gi').for('data')],
    is: 'ok data=y',
  },
  { why: 'reserved for this claim and chosen already', ...late, volumes: [fitting('x').for('data', 'uid-data')], is: 'ok data=x' },
  {
    why: 'reserved for this claim on another machine',
    ...late,
    volumes: [fitting('x'), fitting('y').for('data').local('node-b')],
    is: NONE,
  },
  { why: 'on this machine', ...late, volumes: [fitting('x').local('node-b'), fitting('y').local('node-a').size('3Gi')], is: 'ok data=y' },
  {
    why: 'on this machine, though others are smaller',
    ...late,
    volumes: [fitting('x').local('node-a').size('4Gi'), fitting('y').size('3Gi').inZone('z')],
    is: 'ok data=x',
  },
  {
    why: 'anywhere, smaller than on this machine',
    ...late,
    volumes: [fitting('x').local('node-a').size('4Gi'), fitting('y').size('3Gi')],
    is: 'ok data=y',
  },
  { why: 'in another zone', ...late, node: node('node-a').zone('a'), volumes: [fitting('x').inZone('b')], is: NONE },
  {
    why: 'on another machine or in this zone',
    ...late,
    node: node('node-a').zone('z'),
    volumes: [fitting('x').reachedBy(on('kubernetes.io/hostname', 'node-b'), on('topology.kubernetes.io/zone', 'z'))],
    is: 'ok data=x',
  },
  {
    why: 'each claim its own, the small one first',
    classes: [storageClass('late')],
    claims: [claim('big').class('late').asks('2Gi'), claim('small').class('late').asks('1Gi')],
    pod: podWith('p', 'big', 'small'),
    volumes: [fitting('x').size('3Gi'), fitting('y').size('2Gi')],
    is: 'ok small=y big=x',
  },
  {
    why: 'one for two claims',
    classes: [storageClass('late')],
    claims: [claim('one').class('late'), claim('two').class('late')],
    pod: podWith('p', 'one', 'two'),
    volumes: [fitting('x')],
    is: NONE,
  },
  {
    why: 'selected by labels',
    ...late,
    claims: [
      claim('data')
        .class('late')
        .spec({ selector: { matchLabels: { tier: 'gold' } } }),
    ],
    volumes: [fitting('x'), fitting('y').labels({ tier: 'gold' })],
    is: 'ok data=y',
  },
  {
    why: 'selected by what nobody can read',
    ...late,
    claims: [
      claim('data')
        .class('late')
        .spec({ selector: { matchExpressions: [{ key: 'tier', operator: 'Near' }] } }),
    ],
    volumes: [fitting('x')],
    is: NONE,
  },
]);

const made = { ...late, classes: [storageClass('late', { provisioner: 'driver' })] };
const allowing = (...zones: string[][]) => [
  storageClass('late', {
    provisioner: 'driver',
    allowedTopologies: zones.map((values) => ({ matchLabelExpressions: [{ key: 'topology.kubernetes.io/zone', values }] })),
  }),
];
table('a volume to be made:', [
  { why: 'on any node', ...made, is: 'ok data@node-a' },
  { why: 'only where none is found', ...made, volumes: [fitting('pv')], is: 'ok data=pv' },
  {
    why: 'one found, one made',
    ...made,
    claims: [...made.claims, claim('more').class('late').asks('1Gi')],
    pod: podWith('p', 'data', 'more'),
    volumes: [fitting('pv').size('1Gi')],
    is: 'ok more=pv data@node-a',
  },
  { why: 'where the class allows it', ...made, classes: allowing(['x'], ['y', 'z']), node: node('node-a').zone('z'), is: 'ok data@node-a' },
  { why: 'where the class does not allow it', ...made, classes: allowing(['x'], ['y']), node: node('node-a').zone('z'), is: NONE },
  { why: 'on a node without a zone, where the class asks for one', ...made, classes: allowing(['x']), is: NONE },
  {
    why: 'a term that asks for nothing allows nothing',
    ...made,
    classes: [storageClass('late', { provisioner: 'driver', allowedTopologies: [{}] })],
    is: NONE,
  },
  { why: 'it is being made for this node', ...made, claims: [claim('data').class('late').madeFor('node-a')], is: 'ok data@node-a' },
  { why: 'it is being made for another node', ...made, claims: [claim('data').class('late').madeFor('node-b')], is: NONE },
  {
    why: 'it is being made, so that none is looked for',
    ...made,
    claims: [claim('data').class('late').madeFor('node-a')],
    volumes: [fitting('pv')],
    is: 'ok data@node-a',
  },
  {
    why: 'none instead of one that is reserved on another machine',
    ...made,
    volumes: [fitting('y').for('data').local('node-b')],
    is: NONE,
  },
]);

const counted = { ...made, drivers: [csiDriver('driver', true)] };
const near = (zone: string) => ({ nodeTopology: { matchLabels: { 'topology.kubernetes.io/zone': zone } } });
const inA = node('node-a').zone('a');
table('space for a volume to be made:', [
  { why: 'the driver does not say', ...counted, drivers: [csiDriver('driver', false)], is: 'ok data@node-a' },
  { why: 'nobody knows the driver', ...counted, drivers: [], is: 'ok data@node-a' },
  { why: 'the driver has told nothing yet', ...counted, is: NO_SPACE },
  {
    why: 'enough near the node',
    ...counted,
    node: inA,
    capacities: [csiCapacity('late', { capacity: '2Gi', ...near('a') })],
    is: 'ok data@node-a',
  },
  {
    why: 'too little near the node',
    ...counted,
    node: inA,
    capacities: [csiCapacity('late', { capacity: '2047Mi', ...near('a') })],
    is: NO_SPACE,
  },
  { why: 'enough elsewhere', ...counted, node: inA, capacities: [csiCapacity('late', { capacity: '9Gi', ...near('b') })], is: NO_SPACE },
  { why: 'enough nowhere in particular', ...counted, node: inA, capacities: [csiCapacity('late', { capacity: '9Gi' })], is: NO_SPACE },
  { why: 'enough everywhere', ...counted, capacities: [csiCapacity('late', { capacity: '9Gi', nodeTopology: {} })], is: 'ok data@node-a' },
  {
    why: 'enough, but not in one piece',
    ...counted,
    capacities: [csiCapacity('late', { capacity: '9Gi', maximumVolumeSize: '1Gi', nodeTopology: {} })],
    is: NO_SPACE,
  },
  { why: 'of another class', ...counted, capacities: [csiCapacity('other', { capacity: '9Gi', nodeTopology: {} })], is: NO_SPACE },
  {
    why: 'a claim that does not say how much',
    ...counted,
    claims: [claim('data').class('late').spec({ resources: {} })],
    is: 'ok data@node-a',
  },
]);

const BETA = 'failure-domain.beta.kubernetes.io/zone';
const GA = 'topology.kubernetes.io/zone';
const REGION = 'topology.kubernetes.io/region';
const zoned = (labels: Record<string, string>) => bound(volume('pv').labels(labels));
table('the zone of a volume:', [
  { why: "is the node's", ...zoned({ [GA]: 'a' }), node: node('n').zone('a'), is: 'ok' },
  { why: 'is another', ...zoned({ [GA]: 'a' }), node: node('n').zone('b'), is: ZONE },
  { why: 'is one of several', ...zoned({ [GA]: 'a__b' }), node: node('n').zone('b'), is: 'ok' },
  { why: 'is none of several', ...zoned({ [GA]: 'a__b' }), node: node('n').zone('ab'), is: ZONE },
  { why: 'cannot be read', ...zoned({ [GA]: 'a__' }), node: node('n').zone('b'), is: 'ok' },
  { why: 'does not matter to a node without one', ...zoned({ [GA]: 'a' }), node: node('n'), is: 'ok' },
  { why: 'is not said, while the node has one', ...zoned({}), node: node('n').zone('a'), is: 'ok' },
  { why: 'has its old name on both', ...zoned({ [BETA]: 'a' }), node: node('n').labels({ [BETA]: 'b' }), is: ZONE },
  { why: 'has its old name on the volume', ...zoned({ [BETA]: 'a' }), node: node('n').zone('a'), is: 'ok' },
  {
    why: 'has its old name on the node alone, which is not read for the new one',
    ...zoned({ [GA]: 'a' }),
    node: node('n').labels({ [BETA]: 'a' }),
    is: ZONE,
  },
  { why: 'fits, but not the region', ...zoned({ [GA]: 'a', [REGION]: 'other' }), node: node('n').zone('a'), is: ZONE },
  { why: 'a node with a region alone', ...zoned({ [GA]: 'a' }), node: node('n').labels({ [REGION]: 'r' }), is: ZONE },
  { why: 'a profile that does not ask', ...zoned({ [GA]: 'a' }), node: node('n').zone('b'), disabled: ['VolumeZone'], is: 'ok' },
]);
