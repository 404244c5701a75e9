import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../../../base/random.ts';
import type { Caches } from '../../../../controllers/rollout/observe.ts';
import { type Fleet, Fleets } from '../../../../controllers/rollout/fleet.ts';
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
    const said = (fleet: Fleet | undefined) => [fleet?.size, fleet?.conflicts, fleet?.holders, fleet?.uses('x'), fleet?.uses('y')];
    const [followed, fresh] = [fleets, new Fleets()].map((by) => by.read(rules, older, caches, serves));
    assert.deepEqual(said(followed), said(fresh), `round ${round}`);
  }
});
