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
const candidates = ['x a', 'y b'].map((one) => one.split(' ')).map(([pod = '', node = '']) => ({ node, victims: [at(pod, node)], violations: 0 })); // prettier-ignore

/** Extenders of one server, each with a path of its own in front of its verbs: `1/filter`. */
async function chained(t: TestContext, behaviours: Record<string, Behaviour>, configs: readonly Partial<ExtenderConfig>[]) {
  const server = await ExtenderServer.start(t, behaviours);
  const { log, lines } = recordedLog();
  const made = configs.map((more, index) => extenderConfig(`${server.url}/${index + 1}`, more));
  const chain = new Extenders(made, { clock: realClock, log, scoreRange: 100 });
  t.after(() => chain.close());
  return { server, chain, lines };
}

const filters = { filterVerb: 'filter' };
const keeps =
  (names: string, more: object = {}): Behaviour =>
  () => ({ NodeNames: names.split(' ').filter((name) => name !== ''), ...more });
const breaks: Behaviour = (_, response) => void response.writeHead(500).end();

test('each extender is called with the nodes that those before it left', async (t) => {
  const second = keeps('b', { FailedAndUnresolvableNodes: { a: 'gone' } });
  const verbs = { '1/filter': keeps('b a', { FailedNodes: { c: 'full' } }), '2/filter': second };
  const { server, chain } = await chained(t, verbs, [filters, filters]);
  const { survivors, refused } = await chain.filter(asking, nodes, t.signal);
  assert.deepEqual(survivors, [nodes[1]]);
  const [full, gone] = [{ resolvable: true, reasons: ['full'] }, { resolvable: false, reasons: ['gone'] }]; // prettier-ignore
  assert.deepEqual(Object.fromEntries(refused), { c: full, a: gone });
  assert.deepEqual(server.requests.map(({ path, body }) => `${path} ${String(body['NodeNames'])}`), ['/1/filter a,b,c', '/2/filter a,b']); // prettier-ignore
});

test('an extender that fails and is ignored is logged once, and its recovery once', async (t) => {
  let isWell = false;
  const filter: Behaviour = (asked, response, request) => (isWell ? keeps('a') : breaks)(asked, response, request);
  const { chain, lines } = await chained(t, { '1/filter': filter }, [{ ...filters, ignorable: true }]);
  for (const well of [true, false, false, true, true, false]) {
    isWell = well;
    await chain.filter(asking, nodes, t.signal);
  }
  assert.deepEqual(lines, ['warn: extender failed, ignoring it', 'info: extender recovered', 'warn: extender failed, ignoring it']);
});

test('scores count by weight; 10 points are the most of an extender, 100 of a plugin', async (t) => {
  const first = () => [{ Host: 'a', Score: 10 }, { Host: 'b', Score: 3 }, { Host: 'z', Score: 10 }]; // prettier-ignore
  const all = { '1/p': first, '2/p': breaks, '3/p': () => [{ host: 'a', score: 1 }] };
  const { chain } = await chained(t, all, [2, 5, 1].map((weight) => ({ prioritizeVerb: 'p', weight }))); // prettier-ignore
  assert.deepEqual(Object.fromEntries(await chain.prioritize(asking, nodes, t.signal)), { a: 10 * 2 * 10 + 1 * 10, b: 3 * 2 * 10 });
});

const unmanaged = { managedResources: [{ name: 'e.com/x', ignoredByScheduler: false }] };
const binds: { why: string; answer: object; more?: Partial<ExtenderConfig>; bound: boolean }[] = [
  { why: 'an extender', answer: {}, bound: true },
  { why: 'nobody here, where the extender has no interest', answer: {}, more: unmanaged, bound: false },
  { why: 'somebody else, where an ignorable extender will not', answer: { Error: 'no' }, more: { ignorable: true }, bound: false },
];
for (const { why, answer, more = {}, bound } of binds)
  test(`a pod is bound by ${why}`, async (t) => {
    const { chain } = await chained(t, { '1/bind': () => answer }, [{ bindVerb: 'bind', ...more }]);
    assert.equal(await chain.bind(asking, 'a', t.signal), bound);
  });

const preempts = { preemptVerb: 'preempt' };
const leaves =
  (byNode: Record<string, string[]>): Behaviour =>
  () => {
    const entries = Object.entries(byNode).map(([name, uids]) => [name, { Pods: uids.map((UID) => ({ UID })) }]);
    return { NodeNameToMetaVictims: Object.fromEntries(entries) as object };
  };
test('candidates are left to extenders, one after the other; one that fails ends the attempt', async (t) => {
  const verbs = { '1/preempt': leaves({ a: ['x'], b: ['y'] }), '2/preempt': leaves({ b: ['y'] }), '3/preempt': breaks };
  const { server, chain } = await chained(t, verbs, [preempts, preempts, preempts]);
  const podsOn = (where: string) => candidates.find(({ node }) => node === where)?.victims ?? [];
  await assert.rejects(chain.preempt(asking, candidates, podsOn, t.signal), /code 500/);
  assert.deepEqual(server.requests.map(({ body }) => Object.keys(body['NodeNameToMetaVictims'] as object).join('')), ['ab', 'ab', 'b']); // prettier-ignore
});
