import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startApiServer } from '../apiserver/server.ts';
import { realClock } from '../base/clock.ts';
import { silentLog } from '../base/log.ts';
import { realRandom } from '../base/random.ts';
import { rollouts, type NodeConfigRollout } from '../controllers/rollout/types.ts';
import { definitions } from '../deploy/manifests.ts';
import { configMaps, nodes } from '../kube/api/object.ts';
import { createClient } from '../kube/client/http-client.ts';
import { LightAgents } from '../test/support/fleet/light-agents.ts';
import { startBrowser, whyNoBrowser, type Browser } from '../test/support/page/browser.ts';
import { freePorts } from '../test/support/real-parts/free-ports.ts';
import { inParallel } from './daemonset/fleet.ts';
import { numberOf } from './daemonset/number.ts';
import type { Figure } from './figure.ts';
import { KEY, kubeletConfig, NAMESPACE } from './node.ts';
import { dkcPlan, startPlan } from './subject.ts';

const LOADS = 7;
const WATCHED_MS = 20_000;
/** A trial of 30 s instead of 10 min: with 500 nodes in flight about 15 settle each second, and each brings several changes. */
const pace = { active: 3_000, trial: 30_000, condemned: 3_000 };

/**
 * The fleet page of `dkc controllers run` in headless Chromium during a rollout on 5,000 simulated nodes (DKC_NODES): load time,
 * cost of a frame, and bytes on the network. API server, controllers, agents and browser share this machine. Runs only if named.
 */
export async function page(): Promise<Figure[] | string> {
  const why = whyNoBrowser();
  if (why !== undefined) return why;
  const count = numberOf(process.env, 'DKC_NODES', 5_000);
  await using undo = new AsyncDisposableStack();
  const { url, metrics, settled } = await rollingFleet(count, undo);
  const browser = await startBrowser();
  undo.defer(() => browser.close());
  const firsts: number[] = [];
  for (let load = 0; load < LOADS; load++) firsts.push(await firstPicture(browser, url));
  const before = { sent: await metrics('dkc_page_sent_bytes_total'), settled: await settled() };
  const watched = await watch(browser, url);
  const [sent, after] = [(await metrics('dkc_page_sent_bytes_total')) - before.sent, await settled()];
  console.error(`  ${before.settled} nodes settled when it was opened, ${after} at the end; ${watched.messages} events of changes`);
  const fleet = `fleet page, ${count.toLocaleString('en')} nodes`;
  const own = (unit: string, values: readonly number[]) => ({ name: 'dkc', unit, values });
  return [
    { what: `${fleet}: first picture`, ours: own('ms', firsts), reach: { atMost: 1_000 } },
    {
      what: `${fleet}: CPU of an event of changes with all its frames: script, style, layout`,
      ours: own('ms', [watched.cpuMs / watched.messages]),
    },
    { what: `${fleet}: from frame to frame`, ours: own('ms', watched.frames), reach: { atMost: 17 } },
    { what: `${fleet}: picture, as JSON`, ours: own('kB', [watched.pictureBytes / 1_000]) },
    { what: `${fleet}: page, picture and ${WATCHED_MS / 1_000} s of changes on the wire`, ours: own('kB', [sent / 1_000]) },
  ];
}

interface Rolling {
  /** URL of the page. */
  url: string;
  /** Value of a counter of the controllers' process. */
  metrics: (name: string) => Promise<number>;
  settled: () => Promise<number>;
}

/** Creates a fleet in the middle of a rollout. */
async function rollingFleet(count: number, undo: AsyncDisposableStack): Promise<Rolling> {
  const directory = await mkdtemp(join(tmpdir(), 'dkc-bench-'));
  undo.defer(() => rm(directory, { recursive: true, force: true }));
  const world = { clock: realClock, random: realRandom, log: silentLog };
  const server = await startApiServer({
    ...world,
    version: 'v1.36.3',
    dynamicKubeletConfig: false,
    definitions: definitions({ cel: false }),
  });
  undo.defer(() => server.stop());
  const client = createClient({ origin: 'the benchmark', server: server.url, ca: { data: server.caPem }, token: server.token });
  undo.defer(() => client.close());
  const kubeconfig = join(directory, 'kubeconfig');
  await writeFile(kubeconfig, server.kubeconfig(), { mode: 0o600 });
  const names = Array.from({ length: count }, (_, at) => `node-${String(at).padStart(5, '0')}`);
  const agents = new LightAgents(client, realClock, pace);
  void agents.run();
  undo.defer(() => agents.stop());
  await inParallel(names, 32, async (name) => {
    const at = Number(name.slice(5));
    const labels = { 'topology.kubernetes.io/zone': `zone-${'abc'[at % 3]}`, pool: ['web', 'batch', 'gpu'][(at % 7) % 3] ?? '' };
    const status = {
      nodeInfo: { kubeletVersion: 'v1.36.3' },
      conditions: [{ type: 'Ready', status: 'True', reason: 'KubeletReady', message: '' }],
    };
    await client.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name, labels }, status });
    await agents.join(name);
  });
  const metadata = { name: 'web', namespace: NAMESPACE };
  await client.create(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { [KEY]: kubeletConfig(120) } }, metadata);
  const spec = {
    nodeSelector: {},
    configMap: { ...metadata, kubeletConfigKey: KEY },
    steps: [{ nodes: 1 }, { nodes: '100%' }],
    maxUnavailable: '10%',
  };
  await client.create<NodeConfigRollout>(rollouts, {
    apiVersion: 'dkc.dev/v1alpha1',
    kind: 'NodeConfigRollout',
    metadata: { name: 'web' },
    spec,
  });
  const [pagePort = 0, port = 0] = await freePorts(2);
  const url = `http://127.0.0.1:${pagePort}`;
  const command = [
    'controllers',
    'run',
    '--controllers=rollout',
    '--leader-elect=false',
    `--kubeconfig=${kubeconfig}`,
    `--page-bind-address=127.0.0.1:${pagePort}`,
  ];
  undo.use(await startPlan('dkc', dkcPlan(command, { port, directory }), directory));
  const settled = async (): Promise<number> => (await client.get<NodeConfigRollout>(rollouts, { name: 'web' })).status?.nodes?.settled ?? 0;
  for (const until = performance.now() + 120_000; (await settled()) < count / 100; await realClock.sleep(100))
    if (performance.now() > until) throw new Error('the rollout does not begin');
  const metrics = async (name: string): Promise<number> => {
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    return Number(new RegExp(`^${name} (.*)$`, 'm').exec(text)?.[1] ?? Number.NaN);
  };
  return { url, metrics, settled };
}

const FIRST = "performance.getEntriesByName('first-picture')[0]?.startTime ?? 0";

/** Time from navigation to the first drawn picture, in ms, without caches. */
async function firstPicture(browser: Browser, url: string): Promise<number> {
  const tab = await browser.newPage({ viewport: { width: 1360, height: 860 } });
  await tab.goto(url);
  for (const until = performance.now() + 30_000; performance.now() < until; await realClock.sleep(20)) {
    const first = await tab.evaluate<number>(FIRST);
    if (first === 0) continue;
    await tab.close();
    return first;
  }
  throw new Error('the page has no picture');
}

/** Script that runs before the page's files: counts messages, and measures the time between frames. */
const PROBE = `(() => {
  const seen = (window.seen = { frames: [], messages: 0, pictureBytes: 0 });
  const listen = EventSource.prototype.addEventListener;
  EventSource.prototype.addEventListener = function (type, handler) {
    listen.call(this, type, (event) => {
      if (type === 'picture') seen.pictureBytes = event.data.length;
      handler(event);
      if (type === 'changes') seen.messages++;
    });
  };
  let last = 0;
  const frame = (now) => {
    if (last > 0 && seen.messages > 0) seen.frames.push(now - last);
    last = now;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
})()`;

interface Watched {
  /** Times between frames, in ms. */
  frames: number[];
  messages: number;
  /** Characters. */
  pictureBytes: number;
  /** CPU time of script, style and layout after the first picture. */
  cpuMs: number;
}

async function watch(browser: Browser, url: string): Promise<Watched> {
  const tab = await browser.newPage({ viewport: { width: 1360, height: 860 } });
  await tab.addInitScript(PROBE);
  await tab.goto(url);
  const inspector = await tab.context().newCDPSession(tab);
  // CPU time, which does not include other processes of this machine.
  await inspector.send('Performance.enable', { timeDomain: 'threadTicks' });
  const cpu = async (): Promise<number> => {
    const { metrics } = (await inspector.send('Performance.getMetrics')) as { metrics: { name: string; value: number }[] };
    const seconds = ['ScriptDuration', 'LayoutDuration', 'RecalcStyleDuration'].map(
      (name) => metrics.find((one) => one.name === name)?.value ?? Number.NaN,
    );
    return seconds.reduce((sum, value) => sum + value * 1_000, 0);
  };
  await realClock.sleep(2_000);
  const from = await cpu();
  await tab.evaluate('void (seen.messages = 0)');
  await realClock.sleep(WATCHED_MS);
  const cpuMs = (await cpu()) - from;
  return { ...(await tab.evaluate<Omit<Watched, 'cpuMs'>>('seen')), cpuMs };
}
