import { existsSync, readFileSync, utimesSync } from 'node:fs';
import { scenario } from '../../../systemd/inside/scenario.ts';
import { run } from '../../../systemd/inside/program.ts';
import { systemctl } from '../../../systemd/inside/systemctl.ts';
import { config } from '../../inside/configs.ts';
import { KEY } from '../../inside/names.ts';
import { configureAgent, journal, since } from '../../inside/node.ts';
import { eventually } from '../../../../support/eventually.ts';
import { RealCluster } from '../side-by-side/cluster.ts';
import { kubeconfigsOf, kubeletUnitOf, nativeDir, nativeIp, nodeOf } from '../side-by-side/native.ts';
import { Recorder } from '../side-by-side/recorder.ts';
import { nodeNames, steps, type Act, type NodeName, type Step } from '../side-by-side/steps.ts';

/** What one node did in one step. */
export interface Seen {
  /** Every status.config it had, one after the other. */
  states: string[];
  starts: number;
  /** Until it stood where the step ends, in ms. */
  ms: number;
}

export interface SideBySideResult {
  steps: { step: string; seen: Record<NodeName, Seen> }[];
  /** Messages of KubeletConfigChanged, by name of the ConfigMap's version. */
  events: Record<NodeName, string[]>;
  /** What the native kubelet trusts, by its disk, while it dies: before and after its ten minutes. */
  trusted: { before: string; after: string };
  /** A key that no ConfigMap can have, refused by the API server. */
  badKey: string;
}

const PATIENCE_MS = 120_000;
/** A start of a kubelet is no change of its Node. */
const POLL_MS = 250;
/** Deaths that show a crash loop. */
const DEATHS = 3;
const recorder = new Recorder();

/** Gives two nodes the same, and writes down what each says of it. */
await scenario(async (): Promise<SideBySideResult> => {
  await using cluster = await RealCluster.start(Object.values(nodeOf));
  run('ip', 'address', 'add', `${nativeIp}/32`, 'dev', 'lo');
  for (const name of nodeNames) cluster.credentials(nodeOf[name], ...kubeconfigsOf[name]);
  recorder.open(cluster.plane);
  const result: SideBySideResult = { steps: [], events: { native: [], ours: [] }, trusted: { before: '', after: '' }, badKey: '' };
  for (const step of steps) {
    if (step.acts[0]?.do === 'time-passes') result.trusted.before = trustedByNative();
    result.steps.push({ step: step.step, seen: await take(cluster, step) });
    if (step.acts[0]?.do === 'time-passes') result.trusted.after = trustedByNative();
  }
  recorder.close();
  for (const name of nodeNames) result.events[name] = await changes(cluster, nodeOf[name]);
  result.badKey = await cluster.point('native', 'good', '../etc').then(
    () => 'taken',
    (error: unknown) => String(error),
  );
  return result;
});

function starts(name: NodeName): number {
  return journal(kubeletUnitOf[name]).filter((line) => line.startsWith(`Started ${kubeletUnitOf[name]}`)).length;
}

async function take(cluster: RealCluster, step: Step): Promise<Record<NodeName, Seen>> {
  const before = Object.fromEntries(
    nodeNames.map((name) => [name, { states: recorder.states(nodeOf[name]).length, starts: starts(name) }]),
  );
  const from = performance.now();
  for (const act of step.acts) await perform(cluster, act);
  const times: Partial<Record<NodeName, number>> = {};
  const arrive = async (name: NodeName): Promise<void> => {
    const end = name === 'native' ? step.end : (step[name]?.end ?? step.end);
    const least = step.starts[name] === 'dies' ? DEATHS : step.starts[name];
    const arrived = (): boolean => recorder.now(nodeOf[name]) === end && starts(name) - (before[name]?.starts ?? 0) >= least;
    while (!arrived()) {
      if (since(from) > PATIENCE_MS)
        throw new Error(`${step.step}: waited in vain for ${name} to say ${end}; it says ${recorder.now(nodeOf[name])}`);
      await recorder.change(POLL_MS);
    }
    times[name] = since(from);
  };
  await Promise.all(nodeNames.map(arrive));
  while (since(from) < (step.quietMs ?? 0)) await recorder.change((step.quietMs ?? 0) - since(from));
  const seen = (name: NodeName): Seen => ({
    states: recorder.states(nodeOf[name]).slice(before[name]?.states),
    starts: starts(name) - (before[name]?.starts ?? 0),
    ms: times[name] ?? 0,
  });
  return { native: seen('native'), ours: seen('ours') };
}

async function perform(cluster: RealCluster, act: Act): Promise<void> {
  switch (act.do) {
    case 'nothing':
      systemctl('start', '--no-block', ...Object.values(kubeletUnitOf));
      return;
    case 'make':
      await cluster.make(act.name, config(act.fields));
      return recorder.learn(act.name, await cluster.identity(act.name));
    case 'edit':
      await cluster.change(act.name, { data: { [KEY]: config(act.fields) } });
      return recorder.learn(act.name, await cluster.identity(act.name));
    case 'touch':
      await cluster.change(act.name, { metadata: { labels: { touched: 'yes' } } });
      return recorder.learn(act.name, await cluster.identity(act.name));
    case 'delete':
      return cluster.remove(act.name);
    case 'assign':
      await Promise.all(nodeNames.map((name) => cluster.point(nodeOf[name], act.name, act.key ?? KEY)));
      return;
    case 'clear':
      await Promise.all(nodeNames.map((name) => cluster.point(nodeOf[name], null)));
      return;
    case 'trial-over':
      age();
      await configureAgent({ trialDuration: '1s' });
      await eventually(
        'both to trust it',
        () => nodeNames.every((name) => recorder.now(nodeOf[name]).includes('last-known-good')),
        PATIENCE_MS,
        () => nodeNames.map((name) => recorder.now(nodeOf[name])).join(' | '),
      );
      await configureAgent({ trialDuration: '10m' });
      return;
    case 'time-passes':
      age();
      return;
  }
}

/** Upstream reads the time since an assignment off its record. */
function age(): void {
  const past = Date.now() / 1000 - 11 * 60;
  utimesSync(`${nativeDir}/dynamic/store/meta/assigned`, past, past);
}

function trustedByNative(): string {
  const path = `${nativeDir}/dynamic/store/meta/last-known-good`;
  return existsSync(path) ? (/^ +name: (.*)$/m.exec(readFileSync(path, 'utf8'))?.[1] ?? 'none') : 'no store';
}

async function changes(cluster: RealCluster, node: string): Promise<string[]> {
  interface Event {
    reason: string;
    message: string;
    type: string;
    involvedObject: { name: string };
    metadata: { resourceVersion: string };
  }
  const { items } = await cluster.api.send<{ items: Event[] }>('GET', '/api/v1/namespaces/default/events');
  return items
    .filter(({ reason, involvedObject }) => reason === 'KubeletConfigChanged' && involvedObject.name === node)
    .toSorted((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion))
    .map(({ type, message }) => `${type}: ${recorder.named(message)}`);
}
