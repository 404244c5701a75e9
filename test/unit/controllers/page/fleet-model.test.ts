import assert from 'node:assert/strict';
import { test } from 'node:test';
import { array, assert as check, constant, constantFrom, nat, oneof, property, record } from 'fast-check';
import { atOnce } from '../../../../base/waiting.ts';
import { seededRandom } from '../../../../base/random.ts';
import type { PageNode, PageRollout } from '../../../../controllers/page/contract.ts';
import { FleetPicture, jsonInTurns, type Message } from '../../../../controllers/page/fleet-model.ts';
import { rulesOf } from '../../../../controllers/rollout/rules.ts';
import type { NodeConfigRollout } from '../../../../controllers/rollout/types.ts';
import { memoize } from '../../../../kube/cache/contract.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { PlayedFleet } from '../../../support/page/played-fleet.ts';

/** What the browser runs. */
interface BrowserFleet {
  nodes: Map<string, PageNode & { troubled?: boolean }>;
  rollouts: Map<string, PageRollout>;
  counts: { state: Record<string, number>; troubled: number; unready: number };
  apply(message: Message): { reordered: boolean; changed: string[]; rollouts: boolean };
}
const path = '../../../../controllers/page/assets/fleet.js';
const { Fleet } = (await import(path)) as { Fleet: new () => BrowserFleet };

const played = (nodes: number): PlayedFleet => new PlayedFleet(nodes, { clock: new FakeClock(), random: seededRandom(3) });
const TIME = '2026-03-01T00:00:00Z';

function assertSame({ nodes, rollouts, counts }: BrowserFleet, { picture }: PlayedFleet): void {
  const { nodes: wanted, rollouts: wantedRollouts } = picture.model.fleet(TIME);
  assert.deepEqual(Object.fromEntries(nodes), Object.fromEntries(wanted.map((node) => [node.name, { ...node, troubled: nodes.get(node.name)?.troubled }]))); // prettier-ignore
  const there = (holds: (node: PageNode) => boolean): number => wanted.filter(holds).length;
  assert.deepEqual([counts.state['pending'] ?? 0, counts.unready], [there(({ state }) => state === 'pending'), there(({ ready }) => ready === 'False')]); // prettier-ignore
  assert.equal(counts.troubled, there(({ state, standing }) => state === 'refused' || state === 'condemned' || standing === 'failed')); // prettier-ignore
  assert.deepEqual(Object.fromEntries(rollouts), Object.fromEntries(wantedRollouts.map((one) => [one.name, one])));
}

test('after any changes, sent one by one or many at once, a browser has what a fresh picture has', () => {
  const step = oneof(
    record({ do: constant('advance' as const), nodes: nat(6), failing: constantFrom(0, 0.3) }),
    record({ do: constantFrom('add' as const, 'remove' as const, 'unready' as const, 'ready' as const), at: nat(3) }),
    record({
      do: constantFrom('drop-rollout' as const, 'send' as const, 'read' as const, 'read' as const, 'read' as const),
      at: constant(0),
    }),
  );
  check(
    property(array(step, { maxLength: 40, size: 'max' }), (steps) => {
      const fleet = played(20);
      const browser = new Fleet();
      let seq: number | undefined;
      const send = (): void => {
        fleet.picture.refresh();
        const message = JSON.parse(String(atOnce(jsonInTurns(atOnce(fleet.picture.model.since(seq, TIME)))))) as Message;
        seq = message.seq;
        browser.apply(message);
      };
      send();
      for (const step of steps) {
        if (step.do === 'advance') fleet.advance(step.nodes, step.failing);
        else if (step.do === 'send') send();
        else if (step.do === 'read') fleet.picture.refresh();
        else if (step.do === 'drop-rollout') fleet.removeRollout('gpu');
        else if (step.do === 'add') fleet.addNode(`node-${String(step.at).padStart(4, '0')}`, step.at);
        else if (step.do === 'remove') fleet.removeNode(`node-${String(step.at).padStart(4, '0')}`);
        else fleet.setReady(`node-${String(step.at).padStart(4, '0')}`, step.do === 'ready');
      }
      send();
      assertSame(browser, fleet);
    }),
    { numRuns: 200 },
  );
});

test('the picture has no credentials of gates, and the states of nodes and rollouts', async () => {
  const fleet = played(60);
  for (let at = 0; at < 6; at++) fleet.advance(8, at === 4 ? 1 : 0);
  fleet.picture.refresh();
  const text = JSON.stringify([fleet.picture.model.fleet(TIME), atOnce(fleet.picture.model.since(undefined, TIME)), await fleet.detail('node-0001')]); // prettier-ignore
  assert.doesNotMatch(text, /secret|prometheus\.example/);
  const { nodes, rollouts } = fleet.picture.model.fleet(TIME);
  const states = new Set(nodes.map(({ state, standing }) => `${state}/${standing}`));
  for (const one of ['trusted/settled', 'trusted/waiting', 'refused/failed'])
    assert.ok(states.has(one), `${one} of ${[...states].join(' ')}`);
  const web = rollouts.find(({ name }) => name === 'web');
  assert.deepEqual([web?.phase, web?.stopped, web?.gates, web?.steps[1]?.target], ['Failed', 'Failures', [{ name: 'no-alerts', kind: 'prometheus' }], 6]); // prettier-ignore
  assert.ok(web?.timeline.some(({ kind, text }) => kind === 'failure' && / failed: failed to validate/.test(text)));
  assert.equal(await fleet.detail('nobody'), undefined);
});

test('a rollout that goes on has its own nodes looked at again, one that selects others has all', () => {
  const nodes = new Map(
    ['a', 'a', 'b', 'b', 'b'].map((pool, at) => [`n-${at}`, { kind: 'Node', metadata: { name: `n-${at}`, labels: { pool } } }]),
  );
  const rollouts = ['a', 'b'].map((pool): NodeConfigRollout => ({
    metadata: { name: pool, uid: pool },
    spec: { nodeSelector: { matchLabels: { pool } }, configMap: { namespace: 'dkc-system', name: 'web', kubeletConfigKey: 'kubelet' } },
  }));
  const read: string[] = [];
  const get = (name: string) => (read.push(name), nodes.get(name));
  const caches = { rollouts: { list: () => rollouts }, nodes: { list: () => [...nodes.values()], get }, nodeConfigs: { get: () => undefined } }; // prettier-ignore
  let parsed = 0;
  const rules = memoize((one: NodeConfigRollout) => (parsed++, rulesOf(one)));
  const picture = new FleetPicture({ caches: caches as never, serves: {} as never, rules });
  const readAfter = (change: Partial<NodeConfigRollout>): string => {
    rollouts[0] = { ...(rollouts[0] as NodeConfigRollout), ...change };
    picture.rolloutChanged();
    read.length = 0;
    picture.refresh();
    return read.join(' ');
  };
  assert.equal(readAfter({}), 'n-0 n-1 n-2 n-3 n-4');
  assert.equal(readAfter({ status: { phase: 'Progressing' } }), 'n-0 n-1');
  assert.equal(readAfter({ spec: { ...rollouts[0]?.spec, nodeSelector: {} } }), 'n-0 n-1 n-2 n-3 n-4');
  // One that is being deleted has none, and goes.
  const { metadata } = rollouts[0] ?? assert.fail();
  assert.equal(readAfter({ metadata: { ...metadata, deletionTimestamp: TIME } }), 'n-0 n-1 n-2 n-3 n-4');
  assert.deepEqual(['n-0', 'n-2'].map((name) => picture.model.node(name)?.rollout), ['', 'b']); // prettier-ignore
  const [gone] = rollouts.splice(0, 1);
  picture.rolloutChanged();
  picture.refresh();
  assert.deepEqual(picture.model.fleet('').rollouts.map(({ name }) => name), ['b']); // prettier-ignore
  rollouts.unshift({ ...gone, metadata });
  // With thousands of others no turn is long.
  const [only] = rollouts;
  for (let n = 0; n < 2_000; n++) rollouts.unshift({ ...only, metadata: { name: `0-${n}`, uid: `0-${n}` }, spec: { ...only?.spec, nodeSelector: { matchLabels: { pool: `${n}` } } } }); // prettier-ignore
  for (let n = 5; n < 100; n++) nodes.set(`n-${n}`, { kind: 'Node', metadata: { name: `n-${n}`, labels: { pool: 'a' } } });
  picture.rolloutChanged();
  const [reads, parses]: [number[], number[]] = [[], []];
  for (let isDone = false; !isDone; reads.push(read.length), parses.push(parsed)) {
    read.length = parsed = 0;
    isDone = picture.refresh();
  }
  assert.ok(reads.length > 10 && Math.max(...reads) < 30 && Math.max(...parses) === 250, `${String(reads)}; ${String(parses)}`);
  assert.deepEqual([picture.model.fleet('').rollouts.length, picture.model.node('n-99')?.rollout], [2_002, 'a']);
});

test('a large picture is packed and written in several steps, to the same text', () => {
  const { picture } = played(4_500);
  while (!picture.refresh());
  const steps = [...picture.model.since(undefined, TIME)].length;
  const fleet = picture.model.fleet(TIME);
  const text = JSON.stringify(fleet);
  assert.deepEqual([steps, [...jsonInTurns(fleet)].length], [2, Math.floor(text.length / 2 ** 19)]);
  assert.ok(String(atOnce(jsonInTurns(fleet))) === text);
});
