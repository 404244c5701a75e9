import { stat } from 'node:fs/promises';
import { eventually } from '../eventually.ts';
import { startBrowser, whyNoBrowser } from './browser.ts';
import { servePage } from './serve-page.ts';

/** `npm run page-picture`: makes docs/page.png, the fleet page in the middle of a rollout, in light and dark. */
const FILE = 'docs/page.png';
const MAX_BYTES = 200_000;

const why = whyNoBrowser();
if (why !== undefined) throw new Error(why);
await using served = await servePage(900);
const { url, fleet } = served;
for (let at = 0; at < 40; at++) fleet.advance(24);
fleet.advance(40, 0.04);
fleet.setReady('node-0233', false);
const browser = await startBrowser();
const page = await browser.newPage({ viewport: { width: 1360, height: 800 } });
await page.goto(url);
await eventually('the page has its first picture', () =>
  page.evaluate<boolean>("performance.getEntriesByName('first-picture').length > 0"),
);
await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
await page.screenshot({ path: FILE });
await browser.close();
const { size } = await stat(FILE);
console.log(`${FILE}: ${size} bytes`);
if (size > MAX_BYTES) throw new Error(`${FILE} has more than ${MAX_BYTES} bytes`);
