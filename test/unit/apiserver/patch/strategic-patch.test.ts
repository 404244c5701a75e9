import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import { table } from '../../../support/table.ts';
import { applyPatch } from '../../../../apiserver/handlers/patch.ts';
import { applyStrategicPatch, strategicRules } from '../../../../apiserver/patch/strategic-patch.ts';
import { PatchError } from '../../../../apiserver/patch/json-patch.ts';

const status = {
  status: {
    conditions: [
      { type: 'Ready', status: 'True', reason: 'r' },
      { type: 'Disk', status: 'False' },
    ],
    phase: 'p',
  },
};
const taints = { spec: { taints: [{ key: 'a', effect: 'NoSchedule' }], podCIDRs: ['10.0.0.0/24'] } };
const pod = (spec: object) => ({ spec });
const two = pod({
  containers: [{ name: 'a', image: 'x', env: [{ name: 'K', value: '1' }], ports: [{ containerPort: 80 }] }, { name: 'b' }],
});

const objects: Readonly<Record<string, object>> = { STATUS: status, TAINTS: taints };
const flat = table('kind | target | patch | result | why')(
  `
  Node | STATUS | {status: {conditions: [{type: Ready, status: Unknown}, {type: New}]}}
    | {status: {conditions: [{type: Ready, status: Unknown, reason: r}, {type: Disk, status: 'False'}, {type: New}], phase: p}}
    | merges conditions by type
  Node | STATUS | {status: {conditions: [{$patch: delete, type: Ready}]}}
    | {status: {conditions: [{type: Disk, status: 'False'}], phase: p}} | deletes one condition
  Node | STATUS | {status: {conditions: [{$patch: replace}, {type: Only}]}} | {status: {conditions: [{type: Only}], phase: p}}
    | replaces a merging list when told to
  Node | STATUS | {status: {$patch: replace, phase: q}} | {status: {phase: q}} | replaces an object when told to
  Node | STATUS | {status: {$patch: delete}}            | {status: {}}         | empties an object when told to
  Node | TAINTS | {spec: {taints: [{key: b, effect: NoExecute}]}} | {spec: {taints: [{key: b, effect: NoExecute}], podCIDRs: [10.0.0.0/24]}}
    | replaces taints whole, as the published types say
  Node | {metadata: {finalizers: [a, b]}} | {metadata: {finalizers: [b, c, c]}} | {metadata: {finalizers: [a, b, c]}}
    | merges sets of plain values
  Node | {metadata: {finalizers: [a, b]}} | {metadata: {$deleteFromPrimitiveList/finalizers: [a]}} | {metadata: {finalizers: [b]}}
    | removes plain values by name
  StatefulSet | {spec: {updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 1}}}}
    | {spec: {updateStrategy: {$retainKeys: [type], type: OnDelete}}} | {spec: {updateStrategy: {type: OnDelete}}}
    | keeps only the fields named by $retainKeys
  ConfigMap | {data: {a: '1', b: '2'}} | {data: {a: null}, metadata: {labels: {x: null, y: z}}}
    | {data: {b: '2'}, metadata: {labels: {y: z}}} | removes with null and drops nulls of new objects
`,
).map(({ kind, why, target, ...row }) => {
  const [patch, result] = [parse(row.patch) as object, parse(row.result) as object];
  return { kind, why, target: objects[target] ?? (parse(target) as object), patch, result };
});

const deep: { why: string; kind: string; target: object; patch: object; result: object }[] = [
  {
    why: 'merges lists inside of list items, and follows no order',
    kind: 'Pod',
    target: two,
    patch: pod({
      '$setElementOrder/containers': [{ name: 'b' }, { name: 'a' }],
      containers: [{ name: 'a', env: [{ name: 'L', value: '2' }], ports: [{ containerPort: 80, name: 'http' }] }],
    }),
    result: pod({
      containers: [
        {
          name: 'a',
          image: 'x',
          env: [
            { name: 'K', value: '1' },
            { name: 'L', value: '2' },
          ],
          ports: [{ containerPort: 80, name: 'http' }],
        },
        { name: 'b' },
      ],
    }),
  },
  {
    why: 'reaches into pod templates',
    kind: 'DaemonSet',
    target: { spec: { template: two } },
    patch: { spec: { template: pod({ containers: [{ name: 'b', image: 'y' }] }) } },
    result: {
      spec: {
        template: pod({
          containers: [
            { name: 'a', image: 'x', env: [{ name: 'K', value: '1' }], ports: [{ containerPort: 80 }] },
            { name: 'b', image: 'y' },
          ],
        }),
      },
    },
  },
];
for (const { why, kind, target, patch, result } of [...flat, ...deep]) {
  test(`a strategic patch ${why}`, () => {
    const before = JSON.stringify(target);
    assert.deepEqual(applyPatch('strategic', target, patch, strategicRules(kind)), result);
    assert.equal(JSON.stringify(target), before, 'the target stays as it was');
  });
}

const refused: { why: string; patch: unknown }[] = [
  { why: 'is no object', patch: [] },
  { why: 'has an unknown directive', patch: { status: { $patch: 'explode' } } },
  { why: 'has an item without its merge key', patch: { status: { conditions: [{ status: 'True' }] } } },
  { why: 'has a plain value where objects merge', patch: { status: { conditions: ['x'] } } },
  { why: 'sets a field that $retainKeys leaves out', patch: { spec: { $retainKeys: ['a'], b: 1 } } },
  { why: 'deletes from a list with what is none', patch: { metadata: { '$deleteFromPrimitiveList/finalizers': 'a' } } },
];
for (const { why, patch } of refused) {
  test(`a strategic patch is refused when it ${why}`, () => {
    assert.throws(() => applyPatch('strategic', {}, patch, strategicRules('Node')), PatchError);
  });
}

test('a strategic patch compares no item of a list with each other', () => {
  const rule = { fields: { env: { mergeKey: 'name' }, finalizers: { set: true as const } } };
  const item = (n: number) => ({ name: `n${n}`, value: 'x' });
  let reads = 0;
  const counted = (n: number) => ({
    get name() {
      reads += 1;
      return `n${n}`;
    },
  });
  const count = 20_000;
  const target = { env: Array.from({ length: count }, (_, n) => item(n)), finalizers: Array.from({ length: count }, (_, n) => `f${n}`) };
  const changes = Array.from({ length: count }, (_, n) => ({ ...item(n + count / 2), value: 'y' }));
  const env = [{ $patch: 'delete', name: 'n0' }, ...changes, counted(1)];
  const finalizers = Array.from({ length: count }, (_, n) => `f${n + 10}`);
  const patched = applyStrategicPatch(target, { env, finalizers, '$deleteFromPrimitiveList/finalizers': ['f3'] }, rule) as typeof target;
  assert.equal(patched.env.length, count * 1.5 - 1);
  assert.equal(patched.env[0]?.name, 'n1');
  assert.equal(patched.env.at(-1)?.value, 'y');
  assert.ok(patched.finalizers.includes(`f${count + 9}`));
  assert.ok(reads < 20, `the last item was read ${reads} times`);
});
