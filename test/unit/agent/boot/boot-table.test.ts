import assert from 'node:assert/strict';
import { VolatileFile } from '../../../../agent/boot/volatile-file.ts';
import { realDisk } from '../../../../base/disk.ts';
import { readdir, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { HandMadeNode, config, numbered } from './hand-made-store.ts';
import type { BootOutcome } from '../../../../agent/boot/execute.ts';
import { decode, parseKubeletVersion } from '../../../../agent/config/config.ts';
import { serializeSource } from '../../../../agent/store/serialized.ts';
import { condemned as condemnation, content, filesOf } from '../../../support/builders.ts';

const LOAD = 'failed to load config, see Kubelet log for details';
const INTERNAL = 'internal failure, see Kubelet log for details';
const TRIAL = 'failed trial, see dkc-agent log for details';

const ONE = config('maxPods: 41');
const TWO = config('maxPods: 42');

/** What makes the store of a node with a local config of 110 pods, what boot uses, and what the effective file says then; `aside` are names in meta/. */
type Row = { why: string; make(node: HandMadeNode): Promise<void>; used: BootOutcome['used']; error: string | null } & {
  pods: number | 'defaults' | 'unusable';
  unit?: true;
  aside?: string;
};

const both = async (node: HandMadeNode, assigned: string | undefined, trusted: string | undefined): Promise<void> => {
  await node.records(assigned === undefined ? null : numbered(1), trusted === undefined ? null : numbered(2));
  if (assigned !== undefined && assigned !== '') await node.checkpoint(numbered(1), { kubelet: assigned });
  if (trusted !== undefined && trusted !== '') await node.checkpoint(numbered(2), { kubelet: trusted });
};

const damage =
  (what: 'assigned' | 'last-known-good', bytes: string | Uint8Array) =>
  async (node: HandMadeNode): Promise<void> => {
    await both(node, ONE, TWO);
    await node.write(node.path('meta', what), bytes);
  };

// prettier-ignore
const rows: Row[] = [
  // Upstream's table
  { why: 'two configs that do not load', make: (node) => both(node, '', ''), used: 'local', error: LOAD, pods: 110 },
  // What does not load
  { why: 'a checkpoint without the key', make: async (node) => { await both(node, '', TWO); await node.checkpoint(numbered(1), { other: ONE }); }, used: 'last-known-good', error: LOAD, pods: 42 },
  { why: 'a checkpoint that is a file', make: async (node) => { await both(node, '', TWO); await node.write(node.path('checkpoints', 'uid-1', 'rv-1'), ONE); }, used: 'last-known-good', error: LOAD, pods: 42 },
  { why: 'a key that is a link to somewhere', make: async (node) => { await both(node, '', TWO); await node.checkpoint(numbered(1), {}); await symlink(node.local, node.path('checkpoints', 'uid-1', 'rv-1', 'kubelet')); }, used: 'last-known-good', error: LOAD, pods: 42 },
  { why: 'a torn checkpoint of ours', make: async (node) => { await both(node, ONE, TWO); await node.boot(); await node.checkpoint(numbered(1), { kubelet: TWO }); }, used: 'last-known-good', error: LOAD, pods: 42 },
  // Damaged records: never stop the node
  { why: 'garbage in assigned', make: damage('assigned', 'garbage'), used: 'last-known-good', error: INTERNAL, pods: 42, aside: 'assigned.damaged-' },
  { why: 'assigned with a uid that leaves the store', make: damage('assigned', serializeSource({ ...numbered(1), uid: '../../../..' })), used: 'last-known-good', error: INTERNAL, pods: 42, aside: 'assigned.damaged-' },
  { why: 'a link in place of assigned', make: async (node) => { await both(node, ONE, TWO); await rm(node.path('meta', 'assigned')); await symlink(node.local, node.path('meta', 'assigned')); }, used: 'last-known-good', error: INTERNAL, pods: 42, aside: 'assigned.damaged-' },
  { why: 'garbage in last-known-good', make: damage('last-known-good', 'garbage'), used: 'assigned', error: INTERNAL, pods: 41, aside: 'last-known-good.damaged-' },
  { why: 'assigned missing in a store that is there', make: async (node) => { await both(node, ONE, TWO); await rm(node.path('meta', 'assigned')); }, used: 'last-known-good', error: INTERNAL, pods: 42 },
  { why: 'meta/ missing in a store with checkpoints', make: async (node) => { await both(node, ONE, TWO); await rm(node.path('meta'), { recursive: true }); }, used: 'local', error: INTERNAL, pods: 110 },
  { why: 'a file in place of the store', make: (node) => node.write(node.path(), ''), used: 'local', error: INTERNAL, pods: 110 },
  // Condemned
  { why: 'a config that failed its trial', make: async (node) => { await both(node, ONE, TWO); await node.store().setCondemned([condemnation(content(ONE))]); }, used: 'last-known-good', error: TRIAL, pods: 42 },
  { why: 'condemnations that are no JSON', make: async (node) => { await both(node, ONE, TWO); await node.write(node.path('meta', 'condemned.json'), '[{'); }, used: 'assigned', error: null, pods: 41, aside: 'condemned.json.damaged-' },
  // Local missing or broken
  { why: 'no local config and nothing assigned', make: async (node) => { await both(node, undefined, undefined); await rm(node.local); }, used: 'local', error: null, pods: 'defaults' },
  { why: 'a broken local config and nothing that loads', make: async (node) => { await both(node, '', ''); await node.write(node.local, 'a: ['); await node.write(node.options.effectiveConfig, config('maxPods: 77')); }, used: 'local', error: LOAD, pods: 77 },
  { why: 'no local config, and the very file that was condemned', make: async (node) => { await both(node, ONE, undefined); await node.boot(); await rm(node.local); await node.store().setCondemned([condemnation(content(ONE))]); }, used: 'local', error: TRIAL, pods: 'defaults' },
  // The same with a kubelet that is restarted on what boot writes: all defaults would cut its node off
  { why: 'no local config, a kubelet of ours and a file that no kubelet can read', make: async (node) => { await both(node, undefined, undefined); await rm(node.local); await node.write(node.options.effectiveConfig, 'a: ['); }, unit: true, used: 'local', error: INTERNAL, pods: 'unusable' },
];

for (const row of rows)
  test(`boot on a node with ${row.why} uses ${row.used}`, async (t) => {
    const node = await HandMadeNode.make(t);
    node.options = { ...node.options, kubeletUnit: row.unit ? 'kubelet.service' : '', kubeletExits: join(node.dir, 'kubelet-exits') };
    await row.make(node);
    const outcome = await node.boot();
    assert.deepEqual({ used: outcome.used, error: outcome.error }, { used: row.used, error: row.error }, node.log.join('\n'));
    const text = await node.effective();
    if (row.pods === 'unusable') {
      assert.deepEqual([outcome.effective.usable, text], [false, 'a: [']);
      assert.match(node.log.join('\n'), /^error there is no local config/m);
      return;
    }
    assert.equal(/maxPods: (\d+)/.exec(text)?.[1] ?? 'defaults', String(row.pods));
    assert.equal(outcome.effective.usable, true);
    assert.ok(decode(new TextEncoder().encode(text), parseKubeletVersion('1.30')).ok, 'a kubelet can read it');
    assert.deepEqual(outcome.source, row.used === 'assigned' ? numbered(1) : row.used === 'last-known-good' ? numbered(2) : null);
    if (row.aside !== undefined) {
      const names = await readdir(node.path('meta'));
      assert.ok(names.some((name) => name.startsWith(row.aside ?? '')), names.join(' ')); // prettier-ignore
    }
    // Once more: it comes to rest, and nothing is written that is there.
    const again = await node.boot();
    assert.equal(again.effective.changed, false);
    assert.equal(await node.effective(), text);
    assert.equal(again.used, row.used);
  });

test('boot removes the file in /run as soon as the effective file can be written', async (t) => {
  const node = await HandMadeNode.make(t);
  node.options = { ...node.options, kubeletUnit: 'kubelet.service', kubeletExits: join(node.dir, 'run', 'kubelet-exits') };
  await both(node, ONE, undefined);
  const inMemory = new VolatileFile(node.options, realDisk);
  await inMemory.place(new TextEncoder().encode(TWO));
  await node.boot();
  assert.match(await node.effective(), /maxPods: 41/);
  assert.equal(await inMemory.read(), undefined, 'the kubelet reads the effective file again');
});

test('boot reports content that it trusts under a new name as last-known-good at once', async (t) => {
  const node = await HandMadeNode.make(t);
  await both(node, ONE, ONE);
  assert.deepEqual((await node.boot()).lastKnownGood, numbered(1));
});

test('the same content under another name leaves the effective file as it is, though its paths differ', async (t) => {
  const node = await HandMadeNode.make(t);
  const files = filesOf({ kubelet: config('authentication: {x509: {clientCAFile: ca.crt}}'), 'ca.crt': 'a certificate' });
  await node.store().initialize();
  for (const [n, changed] of [
    [1, true],
    [2, false],
  ] as const) {
    await node.store().save({ ...numbered(n), files, annotations: { 'dkc.dev/note': `${n}` } });
    await node.store().setRecord('assigned', numbered(n));
    const { source, effective } = await node.boot();
    assert.deepEqual([source, effective.changed], [numbered(n), changed]);
    assert.match(await node.effective(), new RegExp(join(node.path('checkpoints', 'uid-1', 'rv-1'), 'ca.crt')));
  }
});
