import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { realClock } from '../../../../base/clock.ts';
import type { ExtenderConfig } from '../../../../scheduler/config/config.ts';
import { Extenders } from '../../../../scheduler/extenders/chain.ts';
import { podInfoOf, type PodInfo } from '../../../../scheduler/pod/pod-info.ts';
import { recordedLog } from '../../../support/recorded-log.ts';
import { node, pod } from '../builders.ts';
import { extenderConfig, ExtenderServer, type Behaviour } from './extender-server.ts';

const asking = podInfoOf(pod('p').priority(10).build());
const nodes = ['a', 'b', 'c'].map((name) => node(name).build());
const at = (name: string, where: string): PodInfo => podInfoOf(pod(name).uid(name).on(where).priority(1).build());
const candidates = [
  { node: 'a', victims: [at('x', 'a')], violations: 0 },
  { node: 'b', victims: [at('y', 'b')], violations: 0 },
];

interface Chain {
  server: ExtenderServer;
  chain: Extenders;
  lines: string[];
}

/** Extenders of one server, each with a path of its own in front of its verbs: `1/filter`. */
async function chained(
  t: TestContext,
  behaviours: Record<string, Behaviour>,
  configs: readonly Partial<ExtenderConfig>[],
  scoreRange = 100,
): Promise<Chain> {
  const server = await ExtenderServer.start(t, behaviours);
  const { log, lines } = recordedLog();
  const made = configs.map((more, index) => extenderConfig(`${server.url}/${index + 1}`, more));
  const chain = new Extenders(made, { clock: realClock, log, scoreRange });
  t.after(() => chain.close());
  return { server, chain, lines };
}

const filters = { filterVerb: 'filter' };
const keeps =
  (names: string, more: object = {}): Behaviour =>
  () => ({ NodeNames: names.split(' ').filter((name) => name !== ''), ...more });
const breaks: Behaviour = (_, response) => void response.writeHead(500).end();

const namesOf = (survivors: readonly { metadata: { name?: string } }[]): string => survivors.map(({ metadata }) => metadata.name).join(' ');

test('each extender is asked about what those before it left', async (t) => {
  const { server, chain } = await chained(
    t,
    { '1/filter': keeps('b a', { FailedNodes: { c: 'full' } }), '2/filter': keeps('b', { FailedAndUnresolvableNodes: { a: 'gone' } }) },
    [filters, filters],
  );
  const { survivors, refused } = await chain.filter(asking, nodes, t.signal);
  assert.equal(namesOf(survivors), 'b');
  assert.equal(survivors[0], nodes[1]);
  assert.deepEqual(Object.fromEntries(refused), {
    c: { resolvable: true, reasons: ['full'] },
    a: { resolvable: false, reasons: ['gone'] },
  });
  assert.deepEqual(
    server.requests.map(({ path, body }) => [path, body['NodeNames']]),
    [
      ['/1/filter', ['a', 'b', 'c']],
      ['/2/filter', ['a', 'b']],
    ],
  );
});

test('who is not interested is not asked', async (t) => {
  const gpu = { managedResources: [{ name: 'example.com/gpu', ignoredByScheduler: true }] };
  const { server, chain } = await chained(t, { '1/filter': keeps(''), '2/filter': keeps('a') }, [
    { ...filters, ...gpu },
    { prioritizeVerb: 'p' },
    { ...gpu, filterVerb: 'filter' },
  ]);
  assert.equal(chain.asks('filter', asking), false);
  assert.equal(chain.asks('prioritize', asking), true);
  assert.equal(chain.asks('bind', asking), false);
  assert.equal(chain.asks('filter', podInfoOf(pod('p').asks('example.com/gpu', '1').build())), true);
  assert.equal(namesOf((await chain.filter(asking, nodes, t.signal)).survivors), 'a b c');
  assert.deepEqual(server.calls, []);
});

test('being passed over is told once, and once more when it is over', async (t) => {
  let isWell = false;
  const { chain, lines } = await chained(
    t,
    { '1/filter': (asked, response, request) => (isWell ? keeps('a') : breaks)(asked, response, request) },
    [{ ...filters, ignorable: true }],
  );
  for (const well of [true, false, false, true, true, false]) {
    isWell = well;
    await chain.filter(asking, nodes, t.signal);
  }
  assert.deepEqual(lines, ['warn: extender failed, ignoring it', 'info: extender recovered', 'warn: extender failed, ignoring it']);
});

for (const { scoreRange, scores } of [
  { scoreRange: 100, scores: { a: 10 * 2 * 10 + 1 * 10, b: 3 * 2 * 10 } },
  { scoreRange: 10, scores: { a: 10 * 2 + 1, b: 3 * 2 } },
])
  test(`scores count by weight, ${scoreRange} points being the most of a plugin`, async (t) => {
    const { chain } = await chained(
      t,
      {
        '1/p': () => [
          { Host: 'a', Score: 10 },
          { Host: 'b', Score: 3 },
          { Host: 'z', Score: 10 },
        ],
        '2/p': breaks,
        '3/p': () => [{ host: 'a', score: 1 }],
      },
      [{ prioritizeVerb: 'p', weight: 2 }, { prioritizeVerb: 'p', weight: 5 }, { prioritizeVerb: 'p' }],
      scoreRange,
    );
    assert.deepEqual(Object.fromEntries(await chain.prioritize(asking, nodes, t.signal)), scores);
  });

const says =
  (answer: object): Behaviour =>
  () =>
    answer;
const unmanaged = { managedResources: [{ name: 'e.com/x', ignoredByScheduler: false }] };
const binds: { why: string; answer: Behaviour; more?: Partial<ExtenderConfig>; bound: boolean | RegExp }[] = [
  { why: 'an extender', answer: says({}), bound: true },
  { why: 'nobody here, where the extender has no interest', answer: says({}), more: unmanaged, bound: false },
  { why: 'somebody else, where an ignorable extender will not', answer: says({ Error: 'no' }), more: { ignorable: true }, bound: false },
];

for (const { why, answer, more = {}, bound } of binds)
  test(`a pod is bound by ${why}`, async (t) => {
    const { chain } = await chained(t, { '1/bind': answer }, [{ bindVerb: 'bind', ...more }]);
    if (typeof bound === 'boolean') assert.equal(await chain.bind(asking, 'a', t.signal), bound);
    else await assert.rejects(chain.bind(asking, 'a', t.signal), bound);
  });

const preempts = { preemptVerb: 'preempt' };
const leaves =
  (byNode: Record<string, string[]>): Behaviour =>
  () => ({
    NodeNameToMetaVictims: Object.fromEntries(Object.entries(byNode).map(([name, uids]) => [name, { Pods: uids.map((UID) => ({ UID })) }])),
  });

const noVictims = leaves({ a: [], b: ['y'] });
const preemptions: { why: string; answers: Behaviour[]; ignorable?: boolean; left: string | RegExp; calls: number }[] = [
  { why: 'one after the other', answers: [leaves({ a: ['x'], b: ['y'] }), leaves({ b: ['y'] })], left: 'b', calls: 2 },
  { why: 'of one that fails, which ends the attempt', answers: [breaks], left: /code 500/, calls: 1 },
  { why: 'with a node without victims, which is a mistake', answers: [noVictims], left: /expected at least one victim pod/, calls: 1 },
];

for (const { why, answers, ignorable = false, left, calls } of preemptions)
  test(`candidates are left to extenders, ${why}`, async (t) => {
    const { server, chain } = await chained(
      t,
      Object.fromEntries(answers.map((answer, index) => [`${index + 1}/preempt`, answer])),
      answers.map(() => ({ ...preempts, ignorable })),
    );
    const call = chain.preempt(asking, candidates, (where) => candidates.find(({ node }) => node === where)?.victims ?? [], t.signal);
    if (left instanceof RegExp) await assert.rejects(call, left);
    else assert.equal((await call).map((one) => one.node).join(' '), left);
    assert.equal(server.calls.length, calls);
  });
