import assert from 'node:assert/strict';
import { test } from 'node:test';
import { payloadOf } from '../../../agent/checkpoint/payload.ts';
import { configYaml, SimulatedNode } from '../../support/simulated-node.ts';
import { configMaps, type KubeObject, nodes } from '../../../kube/api/object.ts';

const NAMESPACE = 'dkc-system';

/**
 * What is under way when the agent is killed, and where the node must arrive: `change` starts what is to be survived on the node that `before` made (by
 * default a trusting one), `again` gives an admin's command that died with the disk once more; it takes `takesMs` before and after the kill.
 */
type Acts = Partial<Record<'before' | 'again', (node: SimulatedNode) => Promise<void>>> & { change(node: SimulatedNode): Promise<void> };
type Sweep = Acts & { why: string; takesMs?: number; arrives: Arrival; kubeletStarts: number };

/** The texts of what Node.status.config names, and of the effective file. */
type Arrival = Record<'assigned' | 'active' | 'lastKnownGood' | 'error', string | undefined> & { effective: RegExp };

/** Short, so that a node that trusts something is made quickly. */
const TRIAL_MS = 30_000;

const good = configYaml({ maxPods: 40 });
const better = configYaml({ maxPods: 41 });
const fatal = configYaml({ maxPods: 50, providerID: 'fatal' });

const [forty, fortyOne, local] = [/maxPods: 40/, /maxPods: 41/, /maxPods: 110/];
/** Where a node arrives that had trusted `good`. */
const arrives = (effective: RegExp, assigned: string, active: string, error?: string): Arrival =>
  ({ effective, assigned, active, lastKnownGood: good, error }); // prettier-ignore
const nothing = { assigned: undefined, active: undefined, lastKnownGood: undefined };
const FAILED = 'failed trial, see dkc-agent log for details';
const ROLLED_BACK = 'rolled back by admin, see dkc-agent log for details';

// prettier-ignore
const sweeps: Sweep[] = [
  {
    why: 'a promotion',
    before: async (node) => {
      await node.start();
      assign(node, good);
      await node.clock.advance(TRIAL_MS - 500);
    },
    change: async () => {},
    takesMs: 9_000,
    arrives: arrives(forty, good, good),
    kubeletStarts: 0,
  },
  { why: 'a change of what is trusted', change: async (node) => void assign(node, better), arrives: arrives(fortyOne, better, better), kubeletStarts: 1 },
  { why: 'the way back from a fatal config', before: (node) => trusting(node, [fatal], 25_900), change: async () => {}, takesMs: 12_000, arrives: arrives(forty, fatal, good, FAILED), kubeletStarts: 1 },
  { why: 'the way back to local', change: async (node) => setSource(node, undefined), arrives: { ...arrives(local, '', ''), ...nothing }, kubeletStarts: 1 },
  {
    why: 'a rollback by an admin',
    before: (node) => trusting(node, [better]),
    change: async (node) => void (await node.rollback().catch(() => '')),
    again: async (node) => void (await node.rollback()),
    arrives: arrives(forty, better, good, ROLLED_BACK),
    kubeletStarts: 1,
  },
];

for (const sweep of sweeps)
  test(`${sweep.why} survives a kill of the agent after any of its writes`, async (t) => {
    // A kill before a sync and one after it leave the same files: power cuts, which do not, are swept with the store.
    const writes = await run(sweep, Number.MAX_SAFE_INTEGER);
    const points = writes.flatMap((what, n) => (what.startsWith('sync ') ? [] : [n]));
    for (const n of points) await run(sweep, n);
    t.diagnostic(`killed at ${points.length} points`);
    assert.ok(points.length > 3, `only ${points.length} writes were swept: the sweep missed what it is about`);
  });

/** @returns the writes of an agent that was let live until `n` of them were done */
async function run(sweep: Sweep, n: number): Promise<string[]> {
  const node = new SimulatedNode({ trialDuration: TRIAL_MS });
  const { takesMs = 1_000, before = trusting } = sweep;
  await before(node);
  await node.clock.advance(0);
  const [started, from] = [node.kubelet.starts.length, node.fs.changes];
  node.fs.fault = { kind: 'cut', at: from + n };
  const { fs } = node;
  await sweep.change(node);
  await node.clock.advance(takesMs);
  const writes = fs.trace.slice(from);
  await node.kill();
  // An admin's command that died with the disk is given again; what it had done already does no harm.
  await sweep.again?.(node);
  await node.start();
  await node.clock.advance(takesMs);
  await arrived(node, sweep, n);
  const starts = node.kubelet.starts.length - started;
  const expected = sweep.kubeletStarts;
  // A kubelet that is dying anyway is started by systemd once more while the agent is dead.
  if (sweep.why.startsWith('the way back from a fatal')) assert.ok(starts >= expected);
  else assert.equal(starts, expected, `${sweep.why}, killed after write ${n}: kubelet starts with ${node.kubelet.starts.join(', ')}`);
  assert.deepEqual(await node.end(), { sleepers: 0, watches: 0 });
  return writes;
}

/** As an earlier agent left it after a trial of `good` that passed; then with these assigned, one after the other, each for so long. */
async function trusting(node: SimulatedNode, then: readonly string[] = [], eachMs = 1_000): Promise<void> {
  const web = assign(node, good);
  const downloaded = payloadOf(web);
  assert.ok(downloaded.ok);
  const { payload } = downloaded;
  const store = node.store();
  await store.initialize();
  await store.save(payload);
  const { namespace, name, uid, resourceVersion } = payload;
  for (const record of ['assigned', 'last-known-good'] as const)
    await store.setRecord(record, { namespace, name, uid, resourceVersion, kubeletConfigKey: 'kubelet' });
  await node.start();
  for (const text of then) {
    assign(node, text);
    await node.clock.advance(eachMs);
  }
}

async function arrived(node: SimulatedNode, { arrives, why }: Sweep, n: number): Promise<void> {
  const at = `${why}, killed after write ${n}`;
  assert.match(await node.effective(), arrives.effective, at);
  assert.equal(new TextDecoder().decode(node.kubelet.started), await node.effective(), `${at}: the kubelet runs something else`);
  const { config } = (node.api.get(nodes, { name: node.name })?.['status'] ?? { config: {} }) as { config: Status };
  const text = async (member: Member): Promise<string | undefined> => {
    if (!member) return undefined;
    const state = await node.store().load(member.configMap);
    return state.at === 'intact'
      ? new TextDecoder().decode(state.checkpoint.payload.files.get('kubelet'))
      : `a checkpoint that is ${state.at}`;
  };
  const { assigned, active, lastKnownGood, error } = config;
  const seen = { assigned: await text(assigned), active: await text(active), lastKnownGood: await text(lastKnownGood), error };
  const { effective: _checked, ...expected } = arrives;
  assert.deepEqual(seen, expected, at);
}

type Member = { configMap: { uid: string; resourceVersion: string } } | undefined;
type Status = { assigned?: Member; active?: Member; lastKnownGood?: Member; error?: string };

function assign(node: SimulatedNode, text: string): KubeObject {
  const web = node.api.put(configMaps, { metadata: { name: 'web', namespace: NAMESPACE }, data: { kubelet: text } });
  setSource(node, { configMap: { namespace: NAMESPACE, name: 'web', kubeletConfigKey: 'kubelet' } });
  return web;
}

function setSource(node: SimulatedNode, configSource: unknown): void {
  const old = node.api.get(nodes, { name: node.name });
  if (!old) throw new Error('the Node is gone');
  const next: KubeObject = { ...old, spec: configSource === undefined ? {} : { configSource } };
  node.api.put(nodes, next);
}
