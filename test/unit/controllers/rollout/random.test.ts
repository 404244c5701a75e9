import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plan } from '../../../../controllers/rollout/plan.ts';
import { failureBudgetOf, maxUnavailableOf } from '../../../../controllers/rollout/rules.ts';
import { ModelFleet, type Fate } from '../../../support/fleet/model-fleet.ts';

const RUNS = Number(process.env['DKC_ROLLOUT_RUNS'] ?? 30);
const SEED = Number(process.env['SEED'] ?? 1);
const HOUR = 3_600_000;

/** One fleet, one good configuration and then a bad one for some of its nodes, and everything that may happen meanwhile. */
function play(seed: number): void {
  const fleet = new ModelFleet(seed);
  const { random } = fleet;
  const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T;
  const size = 1 + Math.floor(random() * 40);
  fleet.edit({
    steps: pick([undefined, [{ nodes: '100%' }], [{ nodes: 1, hold: '5m' }, { nodes: '30%' }, { nodes: '100%' }]]) ?? [
      { nodes: 1 },
      { nodes: '100%' },
    ],
    maxUnavailable: pick([1, 2, '10%', '30%', '100%']),
    failureBudget: pick([1, 2, '20%']),
    nodeDeadline: '10m',
    ...(random() < 0.3 ? { spreadBy: 'zone' } : {}),
  });
  for (let at = 0; at < size; at++) fleet.add(`n${at}`, { zone: pick(['a', 'b', 'c']) });
  const share = pick([0, 0.05, 0.3, 1]);
  const fates = new Map<string, Fate>();
  fleet.fateOf = (content, node) => {
    if (content !== 'bad') return 'trusts';
    if (!fates.has(node)) fates.set(node, random() < share ? pick(['rejects', 'condemns', 'hangs', 'goes down']) : 'trusts');
    return fates.get(node) ?? 'trusts';
  };
  let [wakeIn, looks] = [HOUR, 0];
  fleet.onAssign = (name, revision) => {
    const { revision: wanted } = fleet.rollout.status ?? {};
    if (revision !== wanted) return; // on the way back it has its own rule
    // Counted from what the nodes are, not with the planner's own functions.
    const nodes = [...fleet.nodes.values()];
    const touched = nodes.filter((node) => node.wanted?.name === wanted);
    const isLate = ({ assignedAt = Infinity }: { assignedAt: number | undefined }): boolean => fleet.now - assignedAt >= 600_000;
    const failed = touched.filter((node) => node.error !== undefined || (node.active !== node.lastKnownGood && isLate(node)));
    const unavailable = nodes.filter(
      (node) =>
        !node.ready || node.cordoned || (touched.includes(node) && (node.error !== undefined || node.active !== node.wanted || node.trial)),
    );
    const most = maxUnavailableOf(fleet.rules(), nodes.length);
    assert.ok(unavailable.some((node) => node.name === name) || unavailable.length < most, `seed ${seed}: ${name} is assigned beside ${unavailable.length} unavailable of ${nodes.length}`); // prettier-ignore
    assert.ok(
      failed.length < failureBudgetOf(fleet.rules(), touched.length),
      `seed ${seed}: ${name} is assigned after ${failed.length} failures`,
    );
  };

  /** A controller looks, writes the status, and does some of the plan before it is killed, mostly all of it. */
  const look = (): boolean => {
    const planned = plan(fleet.facts());
    looks += 1;
    if (looks % 7 === 0) assert.deepEqual(planned, plan(fleet.freshFacts()), `seed ${seed}: what was followed is not what is there`);
    const { actions, status, wakeUps } = planned;
    wakeIn = Math.min(HOUR, ...wakeUps.map(({ requeueAfter }) => requeueAfter));
    const changed = JSON.stringify(fleet.rollout.status) !== JSON.stringify(status);
    if (random() < 0.05) return true;
    fleet.rollout = { ...fleet.rollout, status };
    const killedAfter = random() < 0.1 ? Math.floor(random() * (actions.length + 1)) : actions.length;
    for (const action of actions.slice(0, killedAfter)) fleet.act(action);
    return changed || actions.length > 0;
  };

  /** Until the phase is one of these, or nothing changes any more for a long time. */
  const until = (phases: readonly string[], rough: boolean): string => {
    for (let passed = 0; passed < 48 * HOUR;) {
      while (look());
      if (phases.includes(fleet.rollout.status?.phase ?? '') && !rough) break;
      if (rough && passed > 2 * HOUR) break;
      // Without mischief nothing happens before a node or the plan says so.
      const ms = rough ? pick([500, 5_000, 60_000]) : Math.max(1, Math.min(wakeIn, fleet.nextIn()));
      passed += ms;
      fleet.pass(ms);
      if (rough) mischief();
    }
    return fleet.rollout.status?.phase ?? '';
  };
  let added = size;
  const mischief = (): void => {
    const node = pick([...fleet.nodes.values()]);
    const dice = random();
    if (dice < 0.05) {
      if (fleet.nodes.size > 1) fleet.nodes.delete(node.name);
    } else if (dice < 0.1) fleet.add(`n${added++}`, { zone: 'a' });
    else if (dice < 0.2) node.ready = !node.ready;
    else if (dice < 0.23) node.cordoned = !node.cordoned;
    else if (dice < 0.25) fleet.edit({ paused: random() < 0.5 });
    else if (dice < 0.27) fleet.now += (random() - 0.5) * 600_000;
  };
  const calm = (): void => {
    for (const node of fleet.nodes.values())
      Object.assign(node, {
        cordoned: false,
        ...(node.next.length === 0 && (node.active === node.lastKnownGood || fates.get(node.name) !== 'goes down') ? { ready: true } : {}),
      });
    fleet.edit({ paused: false });
  };

  until(['Complete'], true);
  calm();
  // A node that was not Ready for longer than the deadline has failed, whatever it was given: an admin tries again.
  for (let attempt = 2; until(['Complete', 'RolledBack'], false) === 'RolledBack' && attempt < 5; attempt++) fleet.edit({ attempt });
  assert.equal(fleet.rollout.status?.phase, 'Complete', `seed ${seed}: ${JSON.stringify(fleet.rollout.status)}`);
  const good = fleet.rollout.status?.revision;
  fleet.publish('bad');
  until(['Complete'], true);
  calm();
  const end = until(['Complete', 'RolledBack', 'Failed'], false);
  assert.ok(['Complete', 'RolledBack'].includes(end), `seed ${seed}: ${JSON.stringify(fleet.rollout.status)}`);
  if (end === 'RolledBack') for (const node of fleet.nodes.values()) assert.ok(node.wanted === null || node.wanted.name === good, `seed ${seed}: ${node.name} is not back`); // prettier-ignore
}

test(`${RUNS} random fleets: budgets hold at every write, what is good completes, what is bad is taken back`, () => {
  for (let seed = SEED; seed < SEED + RUNS; seed++) play(seed);
});

test('a node that joined and is drained for the revision is not assigned the one before as well', () => {
  const fleet = new ModelFleet(1, { maxUnavailable: '100%', steps: [{ nodes: '100%' }], drain: 'Never' });
  const look = () => {
    const { actions, status } = plan(fleet.facts());
    fleet.rollout = { ...fleet.rollout, status };
    return actions;
  };
  fleet.add('first');
  while (fleet.rollout.status?.phase !== 'Complete') {
    for (const action of look()) fleet.act(action);
    fleet.pass(60_000);
  }
  fleet.edit({ drain: 'Always' });
  fleet.publish('new');
  fleet.add('late');
  for (const action of look()) fleet.act(action);
  const late = look().filter((action) => 'node' in action && action.node.node === 'late');
  assert.deepEqual(late.map((action) => action.do), ['drain']); // prettier-ignore
});
