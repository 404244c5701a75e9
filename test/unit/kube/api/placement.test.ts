import assert from 'node:assert/strict';
import {
  firstUntolerated,
  matchesNodeAffinity,
  matchesNodeSelector,
  mergeTolerations,
  refusingEffects,
  type SelectorMismatch,
  toleratesTaint,
} from '../../../../kube/api/placement.ts';
import { test } from 'node:test';
import type { NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, Taint, Toleration } from 'kubernetes-types/core/v1.js';
import { table } from '../../../support/table.ts';
import { portsConflict } from '../../../../kube/api/pod-requests.ts';

const labels = { disk: 'ssd', zone: '', cores: '16', old: '007', huge: '9223372036854775807', beyond: '9223372036854775808', 'a.b/c': 'd' };
const node = { name: 'n1', labels };

test('a node selector says what is missing first', () => {
  for (const [selector, mismatch] of [
    [undefined],
    [{ disk: 'ssd', 'a.b/c': 'd', zone: '' }],
    [{ absent: '' }, { key: 'absent', wanted: '', found: undefined }],
    [{ disk: 'hdd' }, { key: 'disk', wanted: 'hdd', found: 'ssd' }],
    [{ toString: 'x' }, { key: 'toString', wanted: 'x', found: undefined }],
  ] as [Record<string, string> | undefined, SelectorMismatch?][])
    assert.deepEqual(matchesNodeSelector(selector, labels), mismatch);
});

/** `key operator value,value`; with `@` before the key it is a field. */
function requirement(text: string): NodeSelectorRequirement {
  const [key = '', operator = '', values] = text.replace('@', '').split(' ');
  return { key, operator, ...(values !== undefined && { values: values.split(',') }) };
}
function term(text: string): NodeSelectorTerm {
  const all = text.split(' & ').filter((one) => one !== '');
  const of = (field: boolean) => all.filter((one) => one.startsWith('@') === field).map(requirement);
  return { matchExpressions: of(false), matchFields: of(true) };
}

const terms: Record<'matches' | 'does not match', string[]> = {
  matches: [
    'disk In hdd,ssd | disk NotIn hdd | gpu NotIn a | zone Exists | gpu DoesNotExist | cores Gt 9 | cores Lt 17 | old Gt 6',
    'huge Gt 9223372036854775806 | a.b/c In d | disk In ssd & zone Exists | @metadata.name In n1 | @metadata.name NotIn n2',
    '@metadata.name In n1 & disk In ssd',
  ],
  'does not match': [
    'disk In hdd | gpu In a | disk NotIn hdd,ssd | gpu Exists | zone DoesNotExist | cores Gt 16 | cores Lt 16 | gpu Gt 1 | disk Lt 1',
    'beyond Gt 1 | cores Lt 9223372036854775808 | cores Gt few | cores Gt -1 | cores Gt 1,2 | disk In | disk Exists ssd | disk Like ssd',
    'a/b/c DoesNotExist | disk In ssd,a!b | disk NotIn a!b | disk In ssd & gpu Exists | @metadata.name In n2 | @metadata.name NotIn n1',
    '@metadata.name In n1,n2 | @metadata.name Exists | @spec.unschedulable NotIn true | @metadata.name In n1 & disk In hdd | ',
  ],
};
for (const [verdict, lines] of Object.entries(terms))
  test(`a term of node affinity ${verdict}`, () => {
    for (const text of lines.flatMap((line) => line.split(' | '))) {
      const required = { nodeSelectorTerms: [term(text)] };
      // The second look is answered from memory.
      for (const _ of [1, 2]) assert.equal(matchesNodeAffinity(required, node), verdict === 'matches', text);
    }
  });

test('node affinity is met by one of its terms, and by none where it has none', () => {
  const selected = (...texts: string[]): NodeSelector => ({ nodeSelectorTerms: texts.map(term) });
  for (const required of [undefined, null, selected('disk Like ssd', 'disk In ssd'), selected('', 'disk In ssd')])
    assert.equal(matchesNodeAffinity(required, node), true, JSON.stringify(required));
  for (const required of [selected(), {} as NodeSelector, selected('disk In hdd', 'gpu Exists')])
    assert.equal(matchesNodeAffinity(required, node), false, JSON.stringify(required));
});

// Tolerations of key k and the taints of key k that they tolerate or do not: operator, value, effect; value, effect; `-` for none.
const tolerations = table('toleration | taint | tolerates')(`
  Equal v NoSchedule | v NoSchedule | yes
  - v -              | v NoSchedule | yes
  - w -              | v NoSchedule | no
  - - -              | v NoSchedule | no
  - - -              | - NoExecute  | yes
  Exists - -         | v NoSchedule | yes
  Exists - NoExecute | v NoSchedule | no
  Like v -           | v NoSchedule | no
  Gt 4 -             | 5 NoSchedule | yes
  Gt 5 -             | 5 NoSchedule | no
  Gt -1 -            | 0 NoSchedule | yes
  Gt 4 -             | 9223372036854775808 NoSchedule | no
  Gt 4 -             | abc NoSchedule | no
  Gt 4 -             | - NoSchedule | no
  Lt 10 -            | 9 NoSchedule | yes
  Lt 5 -             | 5 NoSchedule | no
  Lt 10 -            | 007 NoSchedule | no
  Lt 007 -           | 5 NoSchedule | no
`);
const filled = (fields: Record<string, string | undefined>) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== '-' && value !== undefined));
for (const row of tolerations)
  test(`toleration ${row.toleration} ${row.tolerates === 'yes' ? 'tolerates' : 'does not tolerate'} taint ${row.taint}`, () => {
    const [operator, value, effect] = row.toleration.split(' ');
    const [tainted, by] = row.taint.split(' ');
    const taint = { key: 'k', effect: '', ...filled({ value: tainted, effect: by }) };
    const toleration = filled({ operator, value, effect });
    assert.equal(toleratesTaint({ key: 'k', ...toleration }, taint), row.tolerates === 'yes');
    assert.equal(toleratesTaint({ key: 'l', ...toleration }, taint), false, 'another key');
  });

test('the first untolerated taint is found in the order of the node, among effects that refuse', () => {
  const [a, b, soft]: Taint[] = [
    { key: 'a', effect: 'NoSchedule' },
    { key: 'b', effect: 'NoExecute' },
    { key: 'c', effect: 'PreferNoSchedule' },
  ];
  assert.ok(a && b && soft);
  const first = (keys: string[]) =>
    firstUntolerated([soft, a, b], keys.map((key) => ({ key, operator: 'Exists' })), refusingEffects); // prettier-ignore
  assert.deepEqual([first([]), first(['a']), first(['b', 'a'])], [a, b, undefined]);
  assert.deepEqual(
    [firstUntolerated(undefined, undefined, refusingEffects), firstUntolerated([a], undefined, refusingEffects)],
    [undefined, a],
  );
});

const short: Toleration = { key: 'k', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 3 };
const ever: Toleration = { key: 'k', operator: 'Exists', effect: 'NoExecute' };
const other: Toleration = { key: 'x', operator: 'Exists' };
const implied: Toleration = { key: 'k', value: 'v' };
const spelled: Toleration = { key: 'k', operator: 'Equal', value: 'v', tolerationSeconds: 9 };
const elsewhere: Toleration = { ...short, effect: 'NoSchedule' };
const merges: [why: string, own: Toleration[] | undefined, added: Toleration[], merged: Toleration[]][] = [
  ['appends to none', undefined, [ever], [ever]],
  ['replaces in place, duration and all', [short, other], [ever], [ever, other]],
  ['replaces each of two of its kind', [short, ever], [ever], [ever, ever]],
  ['takes no operator for Equal', [implied], [spelled], [spelled]],
  ['tells effects apart', [elsewhere], [ever], [elsewhere, ever]],
  ['tells values apart', [{ ...implied, value: 'w' }], [implied], [{ ...implied, value: 'w' }, implied]],
];
for (const [why, own, added, merged] of merges)
  test(`merging tolerations ${why}`, () => {
    const before = structuredClone(own);
    assert.deepEqual(mergeTolerations(own, added), merged);
    assert.deepEqual(own, before, 'what was given stays as it was');
  });

const at = (ip: string, port = 80, protocol = 'TCP') => ({ ip, port, protocol });
const all = at('0.0.0.0');
const pairs = [
  { a: all, b: at('10.0.0.1'), conflict: true },
  { a: at('10.0.0.1'), b: all, conflict: true },
  { a: at('10.0.0.1'), b: at('10.0.0.2'), conflict: false },
  { a: all, b: at('0.0.0.0', 80, 'UDP'), conflict: false },
  { a: all, b: at('0.0.0.0', 443), conflict: false },
];
test('host ports conflict at one address of one protocol; 0.0.0.0 is every address', () => {
  for (const { a, b, conflict } of pairs) assert.equal(portsConflict(a, b), conflict, JSON.stringify([a, b]));
});
