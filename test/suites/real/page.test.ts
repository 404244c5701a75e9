import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { eventually } from '../../support/eventually.ts';
import { startBrowser, whyNoBrowser, type Browser, type BrowserPage } from '../../support/page/browser.ts';
import { servePage, type ServedPage } from '../../support/page/serve-page.ts';
import { orSkip } from './suite.ts';

const FIRST = "performance.getEntriesByName('first-picture').length > 0";
const DETAIL = "document.getElementById('panel').innerText";
const ACTIVE = "document.getElementById(document.getElementById('fleet').getAttribute('aria-activedescendant')).textContent";

/** The page's policy forbids `eval`, by which the driver's own wait works. */
const until = (page: BrowserPage, holds: string): Promise<unknown> => eventually(holds, () => page.evaluate<boolean>(holds), 30_000);

orSkip(whyNoBrowser(), 'the fleet page in Chromium', () => {
  let browser: Browser;
  before(async () => (browser = await startBrowser()));
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
    assert.deepEqual(problems, []);
    await page.close();
  });

  test('Chromium refuses what the policy of the page does not allow', async () => {
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
    await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
    assert.equal(await page.evaluate('getComputedStyle(document.body).backgroundColor'), 'rgb(20, 24, 28)');
    await page.setViewportSize({ width: 480, height: 900 });
    await until(page, 'document.documentElement.scrollWidth <= window.innerWidth');
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
});
