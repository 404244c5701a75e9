import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../../../base/random.ts';
import type { Caches } from '../../../../controllers/rollout/observe.ts';
import { Fleet, Fleets } from '../../../../controllers/rollout/fleet.ts';
import { inOrder } from '../../../../controllers/rollout/grouping.ts';
import type { RolloutNode } from '../../../../controllers/rollout/node.ts';
import type { Course, Placer } from '../../../../controllers/rollout/placing.ts';
import { type Rules, rulesOf } from '../../../../controllers/rollout/rules.ts';
import type { KubeObject } from '../../../../kube/api/object.ts';

const serves = { version: 'v1.36.3', servesNodeConfigs: true, hasConfigSource: false };
const rulesFor = (name: string, generation: number, pool: string): Rules =>
  rulesOf({
    metadata: { name, uid: `uid-${name}`, generation },
    spec: { nodeSelector: { matchLabels: { pool } }, configMap: { namespace: 'a', name: 'b', kubeletConfigKey: 'c' } },
  });

test('a fleet that is followed is what one that is read anew is, whatever nodes and older rollouts do', () => {
  const random = seededRandom(1);
  const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T;
  const nodes = new Map<string, KubeObject>();
  const configs = new Map<string, KubeObject>();
  const cache = (of: Map<string, KubeObject>) => ({ list: () => [...of.values()], get: (key: string) => of.get(key) });
  const caches = { nodes: cache(nodes), nodeConfigs: cache(configs) } as unknown as Pick<Caches, 'nodes' | 'nodeConfigs'>;
  const fleets = new Fleets();
  let older: Rules[] = [];
  for (let round = 1; round <= 2_000; round++) {
    const name = `node-${Math.floor(random() * 12)}`;
    const source = { configMap: { namespace: 'a', name: pick(['x', 'y']), kubeletConfigKey: 'c' } };
    const dice = random();
    if (dice < 0.2) nodes.delete(name);
    else if (dice < 0.6) nodes.set(name, { kind: 'Node', metadata: { name, labels: { pool: pick(['web', 'db', 'other']) } } });
    else if (dice < 0.9) configs.set(name, { kind: 'NodeConfig', metadata: { name }, spec: source });
    else if (dice < 0.95) configs.delete(name);
    else older = pick([[], [rulesFor('first', round, pick(['web', 'db']))]]);
    fleets.changed('web', name);
    const rules = rulesFor('web', round < 1_000 ? 1 : 2, round < 1_000 ? 'web' : 'db');
    const said = (fleet: Fleet | undefined) => [fleet?.size, fleet?.conflicts, fleet?.holders];
    const [followed, fresh] = [fleets, new Fleets()].map((by) => by.read(rules, older, caches, serves));
    assert.deepEqual(said(followed), said(fresh), `round ${round}`);
  }
});

test('nodes of a large fleet are placed in several looks, those that change meanwhile too; what a plan names is placed in each', () => {
  const unassigned = { wanted: null, assigned: null, active: null, lastKnownGood: null };
  const nodeOf = (at: number): RolloutNode => ({ ...unassigned, node: `node-${at}` }) as RolloutNode;
  let placed = 0;
  const place: Placer = (node) => {
    placed += 1;
    return { node, standing: { at: 'waiting' }, groups: ['left'], failsAt: Infinity, isUnavailable: false };
  };
  const course = { key: 'a', now: 0, drains: new Map(), pending: new Map(), rules: { uid: 'b' } } as unknown as Course;
  const fleet = new Fleet(Array.from({ length: 2_500 }, (_, at) => nodeOf(at)));
  const look = (at = course) => {
    placed = 0;
    return fleet.groups(place, at)?.of('left');
  };
  assert.deepEqual([look(), placed], [undefined, 1_000]);
  fleet.set(nodeOf(7));
  fleet.delete('node-8');
  // A drain that goes on does not wait for the others, and does not keep them waiting.
  const drains = new Map(Array.from({ length: 1_200 }, (_, at) => [`node-${at}`, { at: 'drained' as const, revision: 'c', attempt: 1 }]));
  assert.equal(look({ ...course, drains }), undefined);
  const all = look({ ...course, drains });
  assert.deepEqual([all?.length, fleet.size], [2_499, 2_499]);
  assert.equal(all?.find(({ node }) => node.node === 'node-7')?.node, fleet.get('node-7'));
  const left = Array.from({ length: 2_500 }, (_, at) => fleet.get(`node-${at}`) ?? []).flat();
  assert.deepEqual(all?.map(({ node }) => node), inOrder(left, 'b')); // prettier-ignore
});
