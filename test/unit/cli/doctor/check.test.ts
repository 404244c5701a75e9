import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Bounds, type Check, examineAll, type Finding, ok, type Seen, seen, the, topic } from '../../../../cli/doctor/check.ts';
import { exitOf, reportText } from '../../../../cli/doctor/command.ts';
import { paintFor } from '../../../../cli/output/output.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const number: Check<Seen<number>> = { name: 'number', wants: 'a number', decide: (fact) => ok(String(the(fact))) };
const broken: Check<unknown> = { name: 'broken', wants: 'nothing', decide: () => assert.fail('no such member') };
const bounds = (over: Partial<Bounds> = {}): Bounds => ({ clock: new FakeClock(), signal: new AbortController().signal, timeoutMs: 5000, ...over }); // prettier-ignore

test('a check that throws, a fact that is not known and a gatherer that fails stop nobody else', async () => {
  const denied = Object.assign(new Error('EACCES: permission denied, open'), { code: 'EACCES', path: '/etc/dkc/agent.yaml' });
  const ones = topic([number], async () => ({ seen: 1 }));
  const failing = [topic([broken], async () => ({ seen: 1 })), topic([number], async () => seen(() => Promise.reject(denied))), topic([number], () => Promise.reject(new Error('no such disk')))]; // prettier-ignore
  const found = await examineAll([...failing, ones], undefined, bounds());
  const told = found.map(({ check, result, detail }) => `${check} ${result}: ${detail}`);
  assert.deepEqual(told, [
    'broken skipped: this check has an internal error: no such member',
    'number skipped: permission denied: /etc/dkc/agent.yaml; run this as root',
    'number skipped: no such disk',
    'number ok: 1',
  ]);
});

test('what does not answer is skipped when its time is over, and told to stop', async () => {
  const clock = new FakeClock();
  let told: AbortSignal | undefined;
  const hangs = topic([number], (_, signal) => {
    told = signal;
    return new Promise<Seen<number>>(() => {});
  });
  const found = examineAll([hangs, topic([number], async () => ({ seen: 1 }))], undefined, bounds({ clock }));
  await clock.advance(4999);
  assert.equal(told?.aborted, false);
  await clock.advance(1);
  assert.deepEqual((await found).map(({ detail }) => detail), ['no answer within 5 s', '1']); // prettier-ignore
  assert.equal(told?.aborted, true);
});

const how = { wide: false, paint: paintFor({ env: {} }, { isTTY: false }), columns: undefined };

test('remedies are beneath the table, in its order', async () => {
  const findings: Finding[] = [{ check: 'a', result: 'ok', detail: 'fine' }, { check: 'b', result: 'failed', detail: 'is\u001b[31m masked', remedy: 'systemctl unmask b' }]; // prettier-ignore
  const text = await reportText(findings, new Map([['a', 'all well']]), how);
  const table = 'CHECK   RESULT   DETAIL\na       ok       fine\nb       failed   is\\u001b[31m masked\n';
  assert.equal(text, `${table}\nWhat to do:\n  b: systemctl unmask b\n`);
  assert.match(await reportText(findings, new Map([['a', 'all well']]), { ...how, wide: true }), /^a +ok +all well +fine$/m);
});

test('the exit code is 1 only where a check failed, and 3 where nothing could be looked at', () => {
  const of = (...results: Finding['result'][]) => results.map((result, at) => ({ check: `c${at}`, result, detail: 'x' }));
  assert.equal(exitOf(of('ok', 'warning', 'skipped'), 'this node').code, 0);
  assert.deepEqual(exitOf(of('ok', 'failed', 'failed'), 'this node'), { code: 1, why: '2 of 3 checks failed: c1, c2' });
  assert.throws(() => exitOf(of('skipped', 'skipped'), 'this node'), /Cannot check this node: x/);
});
