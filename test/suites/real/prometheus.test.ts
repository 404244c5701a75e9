import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { realClock } from '../../../base/clock.ts';
import { silentLog } from '../../../base/log.ts';
import { checkGates, Kinds } from '../../../controllers/rollout/gates/check.ts';
import type { AlertsGate, GateResult, PrometheusGate } from '../../../controllers/rollout/gates/contract.ts';
import { httpGetter } from '../../../controllers/rollout/gates/http-get.ts';
import type { Client } from '../../../kube/client/client.ts';
import { eventually } from '../../support/eventually.ts';
import { exporter, onPath, Prometheus } from '../../support/real-parts/prometheus.ts';
import { orSkip } from './suite.ts';

/** Series of one metric that together have more than 1 MiB. */
const LARGE = 6_000;

const program = await onPath('prometheus');
orSkip(program === undefined ? "gates need Debian's package prometheus" : undefined, 'gates ask a real Prometheus', () => {
  let url = '';
  let prometheus: Prometheus | undefined;
  let broken = 0;
  let served: Awaited<ReturnType<typeof exporter>>;

  before(async () => {
    const large = Array.from({ length: LARGE }, (_, n) => `shop_large{id="${n}",text="${'x'.repeat(150)}"} 1`);
    served = await exporter(() => [`shop_broken ${broken}`, 'shop_zero 0', 'shop_nan NaN', ...large, ''].join('\n'));
    const alert = (name: string, expr: string, more = {}) => ({ alert: name, expr, ...more });
    const rules = [
      alert('Watchdog', 'vector(1)'),
      alert('ShopBroken', 'shop_broken > 0'),
      alert('ShopStaysBroken', 'shop_broken > 0', { for: '1h' }),
    ];
    prometheus = await Prometheus.start(program ?? '', { shop: served.target }, { groups: [{ name: 'shop', rules }] });
    url = prometheus.url;
  });
  after(async () => {
    await prometheus?.stop();
    served?.close();
  });

  const context = { client: {} as Client, http: httpGetter(), kinds: new Kinds(), clock: realClock, log: silentLog };
  const ask = async (gate: { prometheus: PrometheusGate } | { alerts: AlertsGate }): Promise<GateResult> => {
    const [result] = await checkGates([{ name: 'gate', ...gate }], context, new AbortController().signal);
    return result ?? assert.fail('no result');
  };
  const query = (text: string, expect?: PrometheusGate['expect']) =>
    ask({ prometheus: { url, query: text, ...(expect === undefined ? {} : { expect }) } });
  const alerts = (more: Omit<AlertsGate, 'url'> = {}) => ask({ alerts: { url, ...more } });

  const cases: { why: string; query: string; expect?: PrometheusGate['expect']; ok?: true; says: RegExp }[] = [
    { why: 'a comparison that nothing matches', query: 'up == 0', ok: true, says: /^no series$/ },
    { why: 'a comparison that one matches', query: 'shop_zero == 0', says: /^1 series, expected none$/ },
    { why: 'a series that must exist', query: 'up{job="shop"}', expect: 'nonEmpty', ok: true, says: /^1 series$/ },
    { why: 'a comparison with bool', query: 'shop_zero == bool 0', expect: 'nonZero', ok: true, says: /^1 series, none is zero$/ },
    { why: 'NaN', query: 'shop_nan', expect: 'nonZero', says: /^1 of 1 series is zero or not a number$/ },
    { why: 'a scalar', query: 'scalar(shop_zero) + 1', expect: 'nonZero', ok: true, says: /^the value is not zero$/ },
    { why: 'a string', query: '"up"', says: /^the query gives a string/ },
    { why: 'a query that does not parse', query: 'up{', says: /^the query failed: bad_data: .*parse error/ },
    { why: 'a query that fails', query: 'label_replace(shop_large, "id", "x", "id", ".*")', says: /^the query failed: execution: / },
    { why: 'an answer of more than 1 MiB', query: 'shop_large', expect: 'nonEmpty', says: /^127\.0\.0\.1:\d+: the answer has more than 1 MiB; query less$/ }, // prettier-ignore
    { why: 'a number of what was too much', query: `count(shop_large) != ${LARGE}`, ok: true, says: /^no series$/ },
  ];
  test('queries', async (t) => {
    await eventually('the exporter is scraped', async () => (await query('shop_nan', 'nonEmpty')).ok);
    for (const { why, query: text, expect, ok = false, says } of cases)
      await t.test(why, async () => {
        const result = await query(text, expect);
        assert.equal(result.ok, ok, result.why);
        assert.match(result.why, says);
      });
    const elsewhere = await ask({ prometheus: { url: `${url}/graph`, query: 'up' } });
    assert.match(elsewhere.why, /^the server answered 404 with something that is not the query API of Prometheus/);
  });

  test('a firing alert blocks until it is over', async () => {
    assert.deepEqual(await eventually('the watchdog fires', async () => { const seen = await alerts(); return seen.ok ? undefined : seen.why; }), 'alert: Watchdog'); // prettier-ignore
    const ignore = 'Watchdog';
    assert.deepEqual(await alerts({ ignore }), { name: 'gate', ok: true, why: 'no alert' });
    assert.match((await alerts({ ignore: '(' })).why, /^the query failed: bad_data: /);

    broken = 1;
    const fires = await eventually('the alert fires', async () => { const seen = await alerts({ ignore }); return seen.ok ? undefined : seen.why; }); // prettier-ignore
    assert.equal(fires, 'alert: ShopBroken');
    assert.equal((await alerts({ ignore, firingOnly: false })).why, '2 alerts: ShopBroken, ShopStaysBroken');
    assert.equal((await alerts({ ignore: 'Watch.*|ShopB.*' })).ok, true);

    broken = 0;
    await eventually('the alert is over', async () => (await alerts({ ignore, firingOnly: false })).ok);
  });

  test('a Prometheus that is gone does not hold', async () => {
    await prometheus?.stop();
    assert.match((await query('up == 0')).why, /^127\.0\.0\.1:\d+: cannot connect \(ECONNREFUSED\)$/);
  });
});
