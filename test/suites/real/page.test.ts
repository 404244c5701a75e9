import assert from 'node:assert/strict';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { eventually } from '../../support/eventually.ts';
import { startBrowser, whyNoBrowser, type Browser, type BrowserPage } from '../../support/page/browser.ts';
import { MAX_CLIENTS } from '../../../controllers/page/stream.ts';
import { servePage, type ServedPage } from '../../support/page/serve-page.ts';
import { orSkip } from './suite.ts';

const FIRST = "performance.getEntriesByName('first-picture').length > 0";
const DETAIL = "document.getElementById('panel').innerText";
const ACTIVE = "document.getElementById(document.getElementById('fleet').getAttribute('aria-activedescendant')).textContent";

/** The page's policy forbids `eval`, by which the driver's own wait works. */
const until = (page: BrowserPage, holds: string): Promise<unknown> => eventually(holds, () => page.evaluate<boolean>(holds), 30_000);

orSkip(whyNoBrowser(), 'the fleet page in Chromium', () => {
  let browser: Browser;
  let pictures = '';

  before(async () => {
    browser = await startBrowser();
    pictures = await mkdtemp(join(tmpdir(), 'dkc-page-'));
  });
  after(() => browser.close());

  /** Opens the page; whatever it logs or throws, a refusal of its policy too, fails the test. */
  async function open(served: ServedPage, path = '/'): Promise<{ page: BrowserPage; problems: string[] }> {
    const page = await browser.newPage({ viewport: { width: 1360, height: 860 } });
    const problems: string[] = [];
    page.on('console', (message) => problems.push(`${message.type()}: ${message.text()}`));
    page.on('pageerror', ({ message }) => problems.push(message));
    await page.goto(`${served.url}${path}`);
    await until(page, FIRST);
    return { page, problems };
  }

  test('a person with a keyboard walks over nodes, opens one, filters and comes back', async () => {
    await using served = await servePage(500);
    served.fleet.advance(60);
    served.fleet.advance(30, 1);
    const { page, problems } = await open(served);
    await page.evaluate("document.getElementById('fleet').focus()");
    assert.match(await page.evaluate<string>(ACTIVE), /^node-0000, /);
    for (const key of ['ArrowRight', 'ArrowRight', 'ArrowLeft']) await page.keyboard.press(key);
    assert.match(await page.evaluate<string>(ACTIVE), /^node-0003, /, 'every third is in the first zone');
    await page.keyboard.press('End');
    assert.match(await page.evaluate<string>(ACTIVE), /^node-0497, |^node-0498, |^node-0499, /);
    await page.keyboard.press('Home');
    await page.keyboard.press('Enter');
    await until(page, `${DETAIL}.includes('Conditions')`);
    assert.match(await page.evaluate<string>(DETAIL), /node-0000[\s\S]*assigned[\s\S]*last known good[\s\S]*v1\.34\.9/);
    assert.equal(await page.evaluate("document.activeElement.closest('#panel') !== null"), true);
    await page.keyboard.press('Escape');
    assert.equal(await page.evaluate("document.activeElement.id + document.getElementById('panel').hidden"), 'fleettrue');
    await page.keyboard.press('/');
    await page.fill('#filter', 'refused');
    await page.evaluate("document.getElementById('fleet').focus()");
    await page.keyboard.press('Home');
    assert.match(await page.evaluate<string>(ACTIVE), /refused, failed in web/);
    await page.click('[data-name="refused"]');
    assert.match(await page.evaluate<string>('location.hash'), /q=refused&state=refused/);
    await page.screenshot({ path: join(pictures, 'filtered.png') });
    assert.deepEqual(problems, []);
    await page.close();
  });

  test('an opened node says what changes, what is wrong with it, and what happened', async () => {
    await using served = await servePage(60);
    served.fleet.advance(50);
    served.fleet.advance(4, 1);
    served.fleet.setDrifted('node-0000');
    const { nodes } = served.fleet.picture.model.fleet('');
    assert.equal(nodes.length, 0, 'nothing is computed before somebody looks');
    const { page, problems } = await open(served, '/#node=node-0000');
    await until(page, `/Drifted: DropInMissing the drop-in of the kubelet is gone/.test(${DETAIL})`);
    const refused = served.fleet.picture.model.fleet('').nodes.find(({ state }) => state === 'refused')?.name ?? '';
    await page.fill('#filter', refused);
    await page.evaluate("document.getElementById('fleet').focus()");
    for (const key of ['Home', 'Enter']) await page.keyboard.press(key);
    const parts = ['What will change', 'kubeReserved.cpu\\s+needs-drain\\s+set', 'serializeImagePulls\\s+safe\\s+changed', 'drains the node', 'Findings', 'rollout: failed to validate', 'agent: Refused', 'KubeletConfigRefused', 'RolloutAssigned']; // prettier-ignore
    for (const part of parts) await until(page, `new RegExp(${JSON.stringify(part)}).test(${DETAIL})`);
    await page.screenshot({ path: join(pictures, 'node.png') });
    assert.deepEqual(problems, []);
    await page.close();
  });

  test('Chromium refuses what the policy of the page does not allow, and has the nodes in its accessibility tree', async () => {
    await using served = await servePage(30);
    const { page } = await open(served);
    await page.evaluate(`(() => {
      window.refused = new Set();
      document.addEventListener('securitypolicyviolation', ({ effectiveDirective }) => refused.add(effectiveDirective));
      const script = document.createElement('script');
      try { script.textContent = 'window.ran = true'; } catch {}
      document.head.append(script);
      document.body.setAttribute('style', 'color: red');
      new Image().src = 'http://127.0.0.1:9/x.png';
      fetch('http://127.0.0.1:9/').catch(() => {});
      document.body.append(Object.assign(document.createElement('iframe'), { src: 'http://127.0.0.1:9/' }));
    })()`);
    for (const directive of ['require-trusted-types-for', 'style-src-attr', 'img-src', 'connect-src', 'frame-src'])
      await until(page, `refused.has(${JSON.stringify(directive)})`);
    assert.equal(await page.evaluate('window.ran'), undefined);
    await page.evaluate("document.getElementById('fleet').focus()");
    const inspector = await page.context().newCDPSession(page);
    const { nodes } = (await inspector.send('Accessibility.getFullAXTree')) as {
      nodes: { role?: { value: string }; name?: { value: string } }[];
    };
    const named = nodes.map(({ role, name }) => `${role?.value} ${name?.value}`);
    for (const one of [
      /^listbox Nodes$/,
      /^option node-0000, trusted, waiting in web$/,
      /^search Nodes$/,
      /^radio Pool$/,
      /^button trusted 30/,
    ])
      assert.ok(
        named.some((text) => one.test(text)),
        `${one} in ${named.filter((text) => /listbox|option|radio|button|search/.test(text)).join('; ')}`,
      );
    await page.close();
  });

  test('groups are zones, pools or versions', async () => {
    await using served = await servePage(90);
    const { page, problems } = await open(served);
    const groups = (value: string): Promise<string> => page.evaluate(`(() => {
      document.querySelector('#grouping input[value="${value}"]').click();
      return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done([...document.querySelectorAll('.group h3')].map((one) => one.textContent).join(' ')))));
    })()`); // prettier-ignore
    assert.equal(await groups('pool'), 'batch gpu web');
    assert.equal(await groups('kubeletVersion'), 'v1.34.9 v1.35.5 v1.36.3');
    assert.equal(await groups(''), 'all nodes');
    assert.equal(await groups('zone'), 'eu-west-1a eu-west-1b eu-west-1c');
    assert.deepEqual(problems, []);
    await page.close();
  });

  test('one reader too many is told so, and comes in when there is a place', async () => {
    await using served = await servePage(20);
    const ending = new AbortController();
    const others = Array.from({ length: MAX_CLIENTS }, () => fetch(`${served.url}/fleet/events`, { signal: ending.signal }));
    await Promise.all(others);
    const page = await browser.newPage();
    await page.goto(served.url);
    await until(page, "/the server has reached its maximum number of open pages/.test(document.getElementById('connection').textContent)");
    ending.abort();
    await until(page, "document.getElementById('connection').textContent === 'live'");
    await page.close();
  });

  test('updates arrive, phases are announced, and light turns to dark', async () => {
    await using served = await servePage(500);
    const { page, problems } = await open(served, '/#group=kubeletVersion&node=node-0042');
    assert.match(await page.evaluate<string>(DETAIL), /node-0042/);
    served.fleet.setReady('node-0042', false);
    await until(page, `/Ready\\s+False/.test(${DETAIL})`);
    for (let at = 0; at < 3; at++) served.fleet.advance(40, at === 0 ? 0 : 0.5);
    await until(page, "document.getElementById('live').textContent.includes('Rollout web is Failed')");
    await until(page, "document.querySelector('.rollout .phase').textContent === 'Failed'");
    assert.match((await page.textContent('#groups')) ?? '', /v1\.34\.9/);
    await page.screenshot({ path: join(pictures, 'light.png') });
    await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
    assert.equal(await page.evaluate('getComputedStyle(document.body).backgroundColor'), 'rgb(20, 24, 28)');
    await page.screenshot({ path: join(pictures, 'dark.png') });
    await page.setViewportSize({ width: 480, height: 900 });
    await until(page, 'document.documentElement.scrollWidth <= window.innerWidth');
    await page.screenshot({ path: join(pictures, 'narrow.png') });
    assert.deepEqual(problems, []);
    await page.close();
  });

  test('a stream that ends is said to be stale, and followed again', async () => {
    await using served = await servePage(50);
    const { page } = await open(served);
    await until(page, "document.getElementById('connection').textContent === 'live'");
    served.fleet.stream.close();
    await until(page, "document.getElementById('connection').textContent.startsWith('stale')");
    served.fleet.setReady('node-0007', false);
    await until(page, "document.getElementById('connection').textContent === 'live'");
    await until(page, "document.getElementById('summary').textContent.includes('1 not Ready')");
    await page.close();
  });

  test('5,000 nodes, and what they cost', async (t) => {
    await using served = await servePage(5_000);
    const { page, problems } = await open(served);
    const first = await page.evaluate<number>("performance.getEntriesByName('first-picture')[0].startTime");
    const size = await page.evaluate<number>("performance.getEntriesByName(new URL('fleet/events', location).href)[0]?.transferSize ?? 0");
    await page.evaluate(`(() => {
      window.frames_ = []; window.long_ = [];
      new PerformanceObserver((list) => long_.push(...list.getEntries().map(({ duration }) => duration))).observe({ type: 'longtask' });
      let last = performance.now();
      const frame = (now) => { frames_.push(now - last); last = now; requestAnimationFrame(frame); };
      requestAnimationFrame(frame);
    })()`);
    for (let at = 0; at < 16; at++) {
      served.fleet.advance(150);
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
    const { seq } = served.fleet.picture.model;
    assert.ok(seq > 5_000);
    const settled = served.fleet.picture.model.fleet('').nodes.filter(({ standing }) => standing === 'settled').length;
    await until(
      page,
      `document.querySelector('#standings [data-name="settled"] b').textContent === ${JSON.stringify(settled.toLocaleString('en-US'))}`,
    );
    const frames = (await page.evaluate<number[]>('frames_')).toSorted((a, b) => a - b);
    const long = await page.evaluate<number[]>('long_');
    const at = (share: number): string => `${Math.round(frames[Math.floor(frames.length * share)] ?? 0)} ms`;
    t.diagnostic(`first picture after ${Math.round(first)} ms, ${size} bytes of stream before it`);
    t.diagnostic(`${frames.length} frames with 150 changes four times a second: median ${at(0.5)}, 95% ${at(0.95)}, longest ${at(0.999)}`);
    t.diagnostic(`${long.length} tasks of more than 50 ms${long.length === 0 ? '' : `, longest ${Math.round(Math.max(...long))} ms`}`);
    t.diagnostic(`pictures: ${pictures}`);
    await page.screenshot({ path: join(pictures, '5000.png') });
    assert.deepEqual(problems, []);
    await page.close();
  });
});
