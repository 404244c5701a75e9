import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Expect } from '../../../../controllers/rollout/gates/contract.ts';
import { table } from '../../../support/table.ts';
import { gateProblems } from '../../../../controllers/rollout/gates/problems.ts';
import { alertsQuery, queryUrl, readAlerts, readObject, readPrometheus } from '../../../../controllers/rollout/gates/readings.ts';

const success = (resultType: string, result: unknown, more: object = {}): string =>
  JSON.stringify({ status: 'success', data: { resultType, result }, ...more });
/** Series with these values. */
const vector = (...values: string[]): string => success('vector', values.map((value) => ({ metric: {}, value: [1, value] }))); // prettier-ignore
const failed = (errorType: string, error: string): string => JSON.stringify({ status: 'error', errorType, error });

/** Type of the result and its values, what is expected of them, and how the gate's reading begins. */
const results = table('result | expect | reading | why')(`
  vector             |          | ok: no series                                               | holds for no series
  vector 0           |          | no: 1 series, expected none                                 | does not hold for a series
  vector             | nonEmpty | no: no series, expected at least one                        | does not hold for none
  vector 0 NaN       | nonEmpty | ok: 2 series                                                | holds for any value
  vector NaN x       | nonZero  | no: 2 of 2 series are zero                                  | does not hold for NaN and text
  vector 1 -0.5 +Inf | nonZero  | ok: 3 series, none is zero                                  | holds for all of them
  vector 1 0         | nonZero  | no: 1 of 2 series is zero or not a number                   | does not hold for one that is 0
  vector             | nonZero  | no: no series                                               | does not hold for no series
  scalar 2           | nonZero  | ok: the value is not zero                                   | holds for a scalar
  scalar 0           | nonZero  | no: the value is zero                                       | does not hold for a scalar of 0
  scalar 0 | | no: the query gives a scalar, which is never empty; write expect: nonZero | rejects a scalar where it counts series
  matrix             |          | no: the query gives a range vector; query an instant vector | rejects a range vector
  tensor             |          | no: the server answered 200 with something that is not      | rejects a type that nobody knows
`);
for (const { result, expect, reading, why } of results)
  test(`a Prometheus gate ${expect === '' ? '' : `that expects ${expect} `}${why}`, () => {
    const [type = '', ...values] = result.split(' ');
    const text = type === 'vector' ? vector(...values) : success(type, type === 'scalar' ? [1, ...values] : []);
    const { ok, why } = readPrometheus({ status: 200, text }, expect === '' ? undefined : (expect as Expect));
    assert.ok(`${ok ? 'ok' : 'no'}: ${why}`.startsWith(reading), why);
  });

// prettier-ignore
const answers: { why: string; expect?: Expect; status?: number; text: string; ok?: true; says: RegExp }[] = [
  { why: 'that wants values does not hold for histograms', expect: 'nonZero', text: success('vector', [{ metric: {}, histogram: [1, {}] }]), says: /^1 of 1/ },
  { why: 'does not hold for a result with warnings', text: success('vector', [], { warnings: ['store a is\naway'] }), says: /^the result may be incomplete: store a is away$/ },
  { why: 'does not hold for a partial result', text: success('vector', [], { isPartial: true }), says: /incomplete: .* partial$/ },
  { why: 'says how a query failed', status: 400, text: failed('bad_data', '1:3: parse error'), says: /^the query failed: bad_data: 1:3: parse error$/ },
  { why: 'says little of a long error', status: 422, text: failed('execution', 'x'.repeat(5_000)), says: /^the query failed: execution: x{97}\.\.\.$/ },
  { why: 'repeats no control characters', status: 503, text: failed('timeout', '\u001b[31mred\u202e\u0000'), says: /^the query failed: timeout: \[31mred$/ },
  { why: 'does not follow redirects', status: 302, text: '', says: /^the server answered 302; redirects are not followed/ },
  { why: 'repeats nothing of a page', status: 502, text: '<html>secret', says: /^the server answered 502 with something that is not the query API of Prometheus; check the URL$/ },
  { why: 'rejects a string', text: success('string', [1, '']), says: /^the query gives a string/ },
  { why: 'rejects JSON of something else', text: '[]', says: /not the query API/ },
  { why: 'rejects success with a code of failure', status: 500, text: vector(), says: /not the query API/ },
  { why: 'rejects a vector that is none', text: success('vector', {}), says: /not the query API/ },
];
for (const { why, expect, status = 200, text, ok = false, says } of answers)
  test(`a Prometheus gate ${why}`, () => {
    const reading = readPrometheus({ status, text }, expect);
    assert.equal(reading.ok, ok, reading.why);
    assert.match(reading.why, says);
  });

test('a gate of alerts names the first alerts and counts the others', () => {
  const alerts = (...names: (string | undefined)[]) =>
    readAlerts({ status: 200, text: success('vector', names.map((alertname) => ({ metric: { alertname }, value: [1, '1'] }))) }); // prettier-ignore
  assert.deepEqual(alerts(), { ok: true, why: 'no alert' });
  assert.deepEqual(alerts('NodeDown'), { ok: false, why: 'alert: NodeDown' });
  assert.deepEqual(alerts('A', 'B', undefined, 'D', 'E', 'F', 'G'), { ok: false, why: '7 alerts: A, B, without a name, D, E and 2 more' });
  assert.equal(readAlerts({ status: 200, text: success('matrix', []) }).ok, false);
});

test('queries are asked below the path of the base, with text that ends no string', () => {
  assert.equal(queryUrl({ url: 'https://host/prometheus/', query: 'a{b="c&d"} > 1' }), 'https://host/prometheus/api/v1/query?query=a%7Bb%3D%22c%26d%22%7D%20%3E%201'); // prettier-ignore
  assert.equal(alertsQuery({}), 'count by (alertname) (ALERTS{alertstate="firing"})');
  assert.equal(
    alertsQuery({ firingOnly: false, ignore: 'Watchdog|a"\\.b' }),
    String.raw`count by (alertname) (ALERTS{alertname!~"Watchdog|a\"\\.b"})`,
  );
});

type Conditions = { type: string; status: string; reason?: string; observedGeneration?: number }[];
const ready = { type: 'Ready', status: 'True' };
// prettier-ignore
const objects: { why: string; status?: unknown; conditions?: Conditions; wanted?: 'False'; ok?: true; says: RegExp }[] = [
  { why: 'holds for a condition that is True', conditions: [{ type: 'Other', status: 'False' }, ready], ok: true, says: /^condition Ready is True$/ },
  { why: 'says why a condition is False', conditions: [{ type: 'Ready', status: 'False', reason: 'Down' }], says: /^condition Ready is False \(Down\), expected True$/ },
  { why: 'holds for False where that is wanted', wanted: 'False', conditions: [{ ...ready, status: 'False' }], ok: true, says: /is False/ },
  { why: 'does not hold without the condition', conditions: [], says: /^Web has no condition Ready$/ },
  { why: 'does not hold for conditions that are no list', status: { conditions: 'x' }, says: /has no condition/ },
  { why: 'waits for a condition of an older generation', conditions: [{ ...ready, observedGeneration: 2 }], says: /True, but for an older generation of the spec$/ },
  { why: 'waits for a status of an older generation', status: { observedGeneration: 2, conditions: [ready] }, says: /older generation/ },
  { why: 'holds for this generation', status: { observedGeneration: 3, conditions: [{ ...ready, observedGeneration: 3 }] }, ok: true, says: /True$/ },
  { why: 'does not hold for a status that is no text', status: { conditions: [{ type: 'Ready', status: true }] }, says: /is true, expected True/ },
];
for (const { why, conditions, status = { conditions }, wanted, ok = false, says } of objects)
  test(`an object gate ${why}`, () => {
    const gate = { kind: 'Web', condition: 'Ready', ...(wanted === undefined ? {} : { status: wanted }) };
    const reading = readObject({ metadata: { generation: 3 }, status }, gate);
    assert.equal(reading.ok, ok, reading.why);
    assert.match(reading.why, says);
  });

const url = 'http://prometheus:9090';
const object = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'shop', name: 'web', condition: 'Available' };
const shapes = { apiVersion: 1, kind: 'pods', namespace: '..', name: '', condition: 'a b', status: 'true' };
const shapesFind = ['apiVersion: must be a string', 'kind: must be the name of a kind', 'namespace: a lowercase', 'name: must not be empty', 'condition: name part', 'status: must be one of True, False, Unknown']; // prettier-ignore
/** Each is called a, where it does not say otherwise. */
// prettier-ignore
const specs: { why: string; gate: unknown; finds: string[] }[] = [
  { why: 'alerts', gate: { alerts: { url, ignore: 'Watchdog', firingOnly: false } }, finds: [] },
  { why: 'an object of the core group', gate: { object: { apiVersion: 'v1', kind: 'Node', name: 'n', condition: 'example.com/Fine' } }, finds: [] },
  { why: 'no object at all', gate: 'x', finds: [': must be an object'] },
  { why: 'a name that is none', gate: { name: 'No Alerts', alerts: { url } }, finds: ['.name: a lowercase RFC 1123 label'] },
  { why: 'the name of another', gate: { name: 'first', alerts: { url } }, finds: ['.name: another gate has this name'] },
  { why: 'two kinds', gate: { alerts: { url }, object }, finds: [': must have exactly one of prometheus, alerts, object'] },
  { why: 'a kind that nobody knows', gate: { toString: {} }, finds: [': must have exactly one of'] },
  { why: 'a kind that is no object', gate: { alerts: [] }, finds: ['.alerts: must be an object'] },
  { why: 'a field that nobody knows', gate: { alerts: { url, ignored: 'x' } }, finds: ['.alerts: has unknown fields; known are url, ignore, firingOnly'] },
  { why: 'no query', gate: { prometheus: { url } }, finds: ['.prometheus.query: is required'] },
  { why: 'a long query', gate: { prometheus: { url, query: 'x'.repeat(4097) } }, finds: ['.query: has 4097 characters; at most 4096 are allowed'] },
  { why: 'a query to expect nothing of', gate: { prometheus: { url, query: 'up', expect: true } }, finds: ['.expect: must be one of empty, nonEmpty, nonZero'] },
  { why: 'a file', gate: { alerts: { url: 'file:///etc/passwd' } }, finds: ['.alerts.url: is not an http or https URL; write the base of the server'] },
  { why: 'a token', gate: { alerts: { url: 'https://secret@prometheus' } }, finds: ['.alerts.url: must not hold credentials'] },
  { why: 'a URL with a query', gate: { alerts: { url: 'http://169.254.169.254/latest?' } }, finds: ['.url: must not have a query or a fragment'] },
  { why: 'a path for a version', gate: { object: { ...object, apiVersion: '../v1' } }, finds: ['.object.apiVersion: must be VERSION or GROUP/VERSION'] },
  { why: 'a path for a name', gate: { object: { ...object, name: 'a/../b' } }, finds: ['.object.name: must not'] },
  { why: 'shapes that are wrong', gate: { object: shapes }, finds: shapesFind },
];
for (const { why, gate, finds } of specs)
  test(`problems of a gate with ${why}`, () => {
    const second = typeof gate === 'object' ? { name: 'a', ...gate } : gate;
    const found = gateProblems([{ name: 'first', alerts: { url } }, second], 'spec.gates');
    assert.equal(found.length, finds.length, found.join('\n'));
    for (const [index, part] of finds.entries())
      assert.ok(found[index]?.startsWith('spec.gates[1]') && found[index].includes(part), found[index]);
    assert.ok(!found.join().includes('secret'), 'a problem repeats what it is about');
  });

test('17 gates are one too many', () => {
  const gates = Array.from({ length: 17 }, (_, n) => ({ name: `g${n}`, alerts: { url } }));
  assert.deepEqual(gateProblems(gates.slice(1), 'spec.gates'), []);
  assert.deepEqual(gateProblems(gates, 'spec.gates'), ['spec.gates: has 17 gates; at most 16 are allowed']);
});
