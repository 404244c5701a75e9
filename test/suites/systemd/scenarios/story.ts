import { Bundle, NODE } from '../inside/agent.ts';
import { EFFECTIVE, kubeletConfig, kubeletExits, kubeletPid, kubeletStart, kubeletStarts, sha256Of } from '../inside/kubelet.ts';
import { scenario } from '../inside/scenario.ts';
import { dropIn, settled, systemctl } from '../inside/systemctl.ts';
import { eventually } from '../../../support/eventually.ts';

interface ConfigStatus {
  assigned?: { configMap?: { name?: string } };
  active?: { configMap?: { name?: string } };
  lastKnownGood?: { configMap?: { name?: string } };
  error?: string;
}

export interface StoryResult {
  /** What happened -> what the API says of the node then: assigned, active, last known good, error. */
  status: Record<string, string>;
  /** What happened -> maxPods of the starts that the kubelet made meanwhile. */
  starts: Record<string, unknown[]>;
  /** What happened -> ms until the status or the kubelet was as described. */
  took: Record<string, number>;
  /** Ends of the kubelet that were not asked for, by the maxPods of its configuration. */
  crashes: unknown[];
  /** The refused configuration met a kubelet that was the same process before and after. */
  untouched: boolean;
}

/** A good configuration, an invalid one, one that kills the kubelet, and one more of these with the API server gone. */
await scenario(async (): Promise<StoryResult> => {
  const agent = new Bundle('trialDuration: 2s\nsyncInterval: 1s\n');
  dropIn('kubelet.service', '[Service]\nRestartSec=2s\n');
  await agent.prepare();
  systemctl('start', 'kubelet.service');
  await kubeletStart(1);
  await settled();
  const result: StoryResult = { status: {}, starts: {}, took: {}, crashes: [], untouched: false };

  const status = async (): Promise<string> => {
    const node = await agent.api.send<{ status?: { config?: ConfigStatus } }>('GET', `/api/v1/nodes/${NODE}`);
    const { assigned, active, lastKnownGood, error } = node.status?.config ?? {};
    const names = [assigned, active, lastKnownGood].map((source) => source?.configMap?.name ?? '-');
    return [...names, error ?? 'no error'].join(' ');
  };
  /** Asks for `config`, waits for `done`, and notes what came of it. */
  async function step(what: string, config: string, done: () => Promise<boolean> | boolean): Promise<void> {
    const [before, at] = [kubeletStarts().length, Date.now()];
    await agent.assign(config);
    await waitFor(what, done);
    result.took[what] = Date.now() - at;
    await settled();
    result.starts[what] = kubeletStarts()
      .slice(before)
      .map(({ maxPods }) => maxPods);
  }
  const waitFor = (what: string, done: () => Promise<boolean> | boolean) =>
    eventually(what, done, 180_000, async () => `status ${await status().catch(String)}`);
  const runs = (maxPods: number) => kubeletStarts().at(-1)?.maxPods === maxPods;

  await step('good', kubeletConfig({ maxPods: 101 }), async () => (await status()) === 'kubelet-1 kubelet-1 kubelet-1 no error');
  result.status['good'] = await status();

  const pid = kubeletPid();
  await step('invalid', kubeletConfig({ maxPods: -1 }), async () => !(await status()).endsWith('no error'));
  result.status['invalid'] = await status();
  result.untouched = kubeletPid() === pid;

  await step('killer', kubeletConfig({ maxPods: 103, registryPullQPS: 4242 }), async () => runs(101) && /trial/.test(await status()));
  result.status['killer'] = await status();

  // The API server goes as soon as the kubelet has met the new one, and nobody is left to ask.
  const starts = kubeletStarts().length;
  let gone = false;
  await step('killer without API server', kubeletConfig({ maxPods: 104, registryPullQPS: 4242 }), () => {
    const met = kubeletStarts().length > starts;
    if (met && !gone) systemctl('stop', 'apiserver.service');
    gone = met;
    return met && runs(101);
  });
  await eventually('the agent', () => sha256Of(EFFECTIVE) === kubeletStarts().at(-1)?.sha256);

  const maxPods = new Map(kubeletStarts().map((start) => [start.sha256, start.maxPods]));
  result.crashes = kubeletExits()
    .filter((exit) => exit.result !== 'success')
    .map((exit) => maxPods.get(exit.sha256));
  return result;
});
