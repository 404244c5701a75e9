import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../../../base/random.ts';
import { FRESH_MS, MAX_HISTORY, MAX_READING, NodeEvents } from '../../../../controllers/page/node-events.ts';
import { ApiError } from '../../../../kube/client/errors.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { PlayedFleet } from '../../../support/page/played-fleet.ts';

const CHANGED = ['kubeReserved.cpu needs-drain set', 'maxPods needs-drain changed', 'serializeImagePulls safe changed'];

const cases = [
  { why: 'waits: the last change is none of its', advance: 0, failing: 0, diff: undefined, effect: undefined, reasons: [], findings: [], uses: '1 active' }, // prettier-ignore
  { why: 'is assigned the next one', advance: 1, failing: 0, diff: CHANGED, effect: 'pending drain', reasons: ['RolloutAssigned'], findings: [], uses: '1 active' }, // prettier-ignore
  { why: 'is on trial', advance: 2, failing: 0, diff: CHANGED, effect: 'last drain', reasons: ['KubeletConfigChanged', 'RolloutAssigned'], findings: [], uses: '2 active, 1 last-known-good' }, // prettier-ignore
  { why: 'has settled', advance: 3, failing: 0, diff: CHANGED, effect: 'last drain', reasons: ['KubeletConfigTrusted', 'KubeletConfigChanged', 'RolloutAssigned'], findings: [], uses: '2 active' }, // prettier-ignore
  { why: 'has refused it', advance: 1, failing: 1, diff: CHANGED, effect: 'pending drain', reasons: ['KubeletConfigRefused', 'RolloutAssigned'], findings: ['rollout', 'agent'], uses: '1 active' }, // prettier-ignore
];
for (const { why, advance, failing, diff, effect, reasons, findings, uses } of cases)
  test(`a close look at a node that ${why}`, async () => {
    const clock = new FakeClock();
    const fleet = new PlayedFleet(8, { clock, random: seededRandom(3) });
    for (let at = 0; at < advance; at++) {
      fleet.advance(8);
      await clock.advance(1_000);
    }
    if (failing > 0) fleet.advance(8, failing);
    fleet.picture.refresh();
    const name = fleet.picture.model.fleet('').nodes.find(({ rollout }) => rollout === 'web')?.name ?? '';
    const detail = await fleet.detail(name);
    assert.ok(detail);
    const { fields } = detail.diff ?? {};
    assert.deepEqual(fields?.map((one) => `${one.field} ${one.class} ${one.change}`).toSorted(), diff);
    assert.equal(detail.diff === null ? undefined : `${detail.diff.kind} ${detail.diff.effect}`, effect);
    assert.deepEqual(detail.history.map(({ reason }) => reason), reasons); // prettier-ignore
    assert.deepEqual(detail.findings.map(({ by }) => by), findings); // prettier-ignore
    const used = detail.revisions.filter(({ node }) => node !== '');
    assert.equal(used.map((one) => `${one.number} ${one.node}`).join(', '), uses);
    assert.doesNotMatch(JSON.stringify(detail), /200m|120/, 'no values of configurations');
  });

test('events of a node: the newest, read once for all who look, and never many nodes at once', async () => {
  const clock = new FakeClock();
  const asked: string[] = [];
  const waiting: (() => void)[] = [];
  const at = (n: number): string => new Date(Date.parse('2026-03-01T00:00:00Z') + n * 1_000).toISOString();
  const items = Array.from({ length: 80 }, (_, n) => ({ metadata: { name: `e${n}` }, reason: `R${n}`, eventTime: at(n), type: 'Odd', message: 7 })); // prettier-ignore
  const events = new NodeEvents(
    {
      list: async (_, query) => {
        asked.push(query?.fieldSelector ?? '');
        await new Promise<void>((resolve) => waiting.push(resolve));
        return { metadata: {}, items: items as never[] };
      },
    },
    clock,
  );
  const looks = Array.from({ length: MAX_READING }, (_, n) => [events.of(`node-${n}`), events.of(`node-${n}`)]).flat();
  assert.match((await events.of('one-more')).problem, /too many/);
  assert.equal(asked.length, MAX_READING);
  assert.equal(asked[0], 'involvedObject.kind=Node,involvedObject.name=node-0');
  for (const resolve of waiting) resolve();
  const [first] = await Promise.all(looks);
  assert.deepEqual([first?.events.length, first?.events[0]?.reason, first?.events[0]?.type], [MAX_HISTORY, 'R79', 'Normal']);
  await clock.advance(FRESH_MS);
  void events.of('node-0');
  assert.equal(asked.length, MAX_READING + 1, 'asked again once the answer is old');
});

test('events that may not be read leave the rest of the close look', async () => {
  const refused = new ApiError({ method: 'GET', path: '/api', host: 'server' }, { code: 403, reason: 'Forbidden', message: 'no' });
  const { events, problem } = await new NodeEvents({ list: () => Promise.reject(refused) }, new FakeClock()).of('node-0');
  assert.deepEqual([events, problem], [[], 'the rollout controller may not list events in namespace default']);
});
