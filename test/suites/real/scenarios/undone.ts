import { scenario } from '../../systemd/inside/scenario.ts';
import { dropIn, property, settled, systemctl } from '../../systemd/inside/systemctl.ts';
import { eventually } from '../../../support/eventually.ts';
import { config, killers, LOCAL_PODS, neverHealthy, type Killer } from '../inside/configs.ts';
import {
  configureAgent,
  crashes,
  dkcJson,
  healthyOn,
  history,
  journal,
  kubeletLife,
  noted,
  nodeUp,
  since,
  type Cluster,
  type KubeletLife,
  type NodeStatus,
} from '../inside/node.ts';

export interface Undone {
  why: string;
  /** From the assignment to the first kubelet that died of it, to the verdict, to a healthy kubelet on the config before. */
  deadMs: number | null;
  condemnedMs: number;
  healthyMs: number;
  crashes: number;
  /** Of the agent, for its verdict. */
  reason: string;
  /** Absent while there is no API server. */
  status?: NodeStatus;
  /** The last words of the kubelets, without their times. */
  lastWords: string[];
}
export interface UndoneResult {
  undone: Undone[];
  agentKilled: Undone;
  /** As long as kubeadm's unit waits before it starts a kubelet again. */
  kubeadmPace: Undone;
  apiGone: Undone;
  /** Invalid, and nobody looked before: boot does. */
  invalid: { status: NodeStatus; before: KubeletLife; after: KubeletLife; crashes: number };
}

const GOOD = 120;
const PATIENCE = 240_000;
let assigned = 0;

/** Assigns without preflight, waits until it is undone. @param meanwhile - done once it is written down on the node */
async function undone(
  cluster: Cluster,
  { why, fields }: Pick<Killer, 'why' | 'fields'>,
  { meanwhile, api = true }: { meanwhile?: () => Promise<void>; api?: boolean } = {},
): Promise<Undone> {
  const n = ++assigned;
  const [before, ended, words] = [await healthyOn(GOOD), crashes(), lastWords().length];
  const at = await cluster.assign(`killer-${n}`, config({ maxPods: 130 + n, ...fields }));
  let deadMs: number | null = null;
  const dead = eventually(
    'an end',
    async () => (crashes() > ended || history(`killer-${n}`).includes('condemned') ? true : undefined),
    PATIENCE,
  );
  const seen = dead.then(() => {
    if (crashes() > ended) deadMs = since(at);
  });
  if (meanwhile) {
    await noted('assigned', `killer-${n}`);
    await meanwhile();
  }
  await noted('condemned', `killer-${n}`, PATIENCE);
  const condemnedMs = since(at);
  await seen;
  const after = await healthyOn(GOOD);
  const healthyMs = since(at);
  if (after.pid === before.pid) throw new Error(`${why}: the kubelet never ran on it`);
  const status = api ? await cluster.until('the fall back', ({ error, active }) => error !== null && active === 'good') : undefined;
  await settled();
  const { condemned } = dkcJson<{ condemned: { name: string; reason: string }[] }>('status');
  const reason = condemned.find((record) => record.name === `killer-${n}`)?.reason ?? '';
  const result = { why, reason, deadMs, condemnedMs, healthyMs, crashes: crashes() - ended, lastWords: lastWords().slice(words) };
  return { ...result, ...(status ? { status } : {}) };
}

/** Fatal lines of the kubelet's log: `F1231 23:59:59.999999     123 server.go:269] failed to run Kubelet: ...`. */
const lastWords = (): string[] =>
  journal('kubelet.service').flatMap((line) => (/^F\d{4} \S+ +\d+ (.*)$/.exec(line)?.[1] ?? '').match(/.+/g) ?? []);

await scenario(async (): Promise<UndoneResult> => {
  const cluster = await nodeUp();
  await healthyOn(LOCAL_PODS);
  await cluster.assign('good', config({ maxPods: GOOD }));
  await cluster.until('a promotion', ({ lastKnownGood }) => lastKnownGood === 'good');
  // On a busy machine a kubelet may be healthy for seconds before it dies of its config.
  await configureAgent({ trialDuration: '10m' });

  const before = await healthyOn(GOOD);
  const ended = crashes();
  await cluster.assign('invalid', config({ maxPods: -1 }));
  const status = await cluster.until('an error', ({ error }) => error !== null);
  await settled();
  const invalid = { status, before, after: kubeletLife(), crashes: crashes() - ended };

  const results: Undone[] = [];
  for (const killer of killers) results.push(await undone(cluster, killer));
  await configureAgent({ unhealthyDeadline: '10s' });
  results.push(await undone(cluster, neverHealthy));
  await configureAgent({ unhealthyDeadline: '120s' });

  const [{ fields }] = killers;
  const killAgent = async (): Promise<void> => {
    const ended = crashes();
    await eventually('a first end', async () => crashes() > ended);
    const pid = await eventually('an agent', () => property('dkc-agent.service', 'MainPID').replace(/^0$/, '') || undefined);
    process.kill(Number(pid), 'SIGKILL');
  };
  const agentKilled = await undone(cluster, { why: 'the agent killed meanwhile', fields }, { meanwhile: killAgent });

  dropIn('kubelet.service', '[Service]\nRestartSec=10\n');
  const kubeadmPace = await undone(cluster, { why: "at kubeadm's pace, 10 s between starts", fields });
  dropIn('kubelet.service', '[Service]\nRestartSec=1\n');

  const stopApi = async (): Promise<void> => void systemctl('kill', '--signal=KILL', 'apiserver.service');
  const apiGone = await undone(cluster, { why: 'the API server gone', fields }, { meanwhile: stopApi, api: false });
  return { undone: results, agentKilled, kubeadmPace, apiGone, invalid };
});
