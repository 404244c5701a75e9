import { scenario } from '../../systemd/inside/scenario.ts';
import { property, settled, systemctl } from '../../systemd/inside/systemctl.ts';
import { eventually } from '../../../support/eventually.ts';
import { LOCAL_PODS, overlay } from '../inside/configs.ts';
import { configz, dkc, dkcJson, healthyOn, kubeletLife, nodeUp, since, starts, type KubeletLife, type NodeStatus } from '../inside/node.ts';

export interface StoryResult {
  /** In ms, from the assignment on. */
  good: {
    effectiveMs: number;
    promotedMs: number;
    /** From the start of the kubelet, as systemd has it. */
    trustedAfterMs: number;
    status: NodeStatus;
    evictionHard: unknown;
    localEvictionHard: unknown;
    starts: number;
  };
  /** What was done to the agent -> the kubelet is the one of before. */
  untouched: Record<string, boolean>;
  view: { active: { name: string } | null; lastKnownGood: { name: string } | null; error: string | null };
  rollback: { ms: number; status: NodeStatus };
  retry: { ms: number; status: NodeStatus };
  drill: { code: number | null; steps: { step: string; passed: boolean; ms: number }[]; starts: number; stderr: string };
  unassign: { ms: number; status: NodeStatus };
}

const isSame = (a: KubeletLife, b: KubeletLife): boolean => a.pid === b.pid && a.began === b.began && kubeletLife().pid === a.pid;

/** A day in the life of a node: assigned, trusted, its agent killed and stopped, rolled back, tried again, drilled, left alone. */
await scenario(async (): Promise<StoryResult> => {
  const cluster = await nodeUp();
  await healthyOn(LOCAL_PODS);
  await settled();
  const evictionHardNow = async (): Promise<unknown> => (await eventually('the config of the kubelet', configz))['evictionHard'];
  const localEvictionHard = await evictionHardNow();

  let at = await cluster.assign('good', overlay({ maxPods: 120 }));
  const { began } = await healthyOn(120);
  const effectiveMs = since(at);
  const status = await cluster.until('a promotion', ({ lastKnownGood }) => lastKnownGood === 'good');
  const trustedAfterMs = Math.round(Number(process.hrtime.bigint() / 1000n - BigInt(began)) / 1000);
  const promotedMs = since(at);
  const good = {
    effectiveMs,
    promotedMs,
    trustedAfterMs,
    status,
    evictionHard: await evictionHardNow(),
    localEvictionHard,
    starts: starts(),
  };

  const untouched: Record<string, boolean> = {};
  const still = async (what: string, act: () => Promise<void>): Promise<void> => {
    const before = await healthyOn(120);
    await act();
    untouched[what] = isSame(before, await healthyOn(120));
  };
  const agentPid = (): string => property('dkc-agent.service', 'MainPID');
  await still('killed with -9', async () => {
    const pid = agentPid();
    process.kill(Number(pid), 'SIGKILL');
    await eventually('another agent', () => ![pid, '0'].includes(agentPid()));
    await settled();
  });
  await still('stopped', async () => void systemctl('stop', 'dkc-agent.service'));
  await still('started again', async () => {
    systemctl('start', 'dkc-agent.service');
    await settled();
  });

  at = await cluster.assign('better', overlay({ maxPods: 121 }));
  await healthyOn(121);
  await cluster.until('a promotion', ({ lastKnownGood }) => lastKnownGood === 'better');
  const view = dkcJson<StoryResult['view']>('status');

  const kept = dkcJson<{ source: { name: string; uid: string; resourceVersion: string } }[]>('checkpoints', 'list');
  const to = kept.find(({ source }) => source.name === 'good')?.source;
  at = performance.now();
  dkcJson('rollback', `--to=${to?.uid}/${to?.resourceVersion}`, '--reason=a drill');
  await healthyOn(120);
  const rollback = { ms: since(at), status: await cluster.until('the fall back', ({ active }) => active === 'good') };

  at = performance.now();
  dkcJson('retry');
  await healthyOn(121);
  const retry = { ms: since(at), status: await cluster.until('a promotion', ({ lastKnownGood }) => lastKnownGood === 'better') };

  const before = starts();
  const { code, stdout, stderr } = dkc('drill', '--live', '--yes', '-o', 'json');
  await healthyOn(121);
  const { steps } = JSON.parse(stdout || '{"steps": []}') as Pick<StoryResult['drill'], 'steps'>;
  const drill = { code, steps, starts: starts() - before, stderr };

  at = performance.now();
  await cluster.unassign();
  await healthyOn(LOCAL_PODS);
  const unassign = { ms: since(at), status: await cluster.until('nothing assigned', ({ assigned }) => assigned === null) };
  return { good, untouched, view, rollback, retry, drill, unassign };
});
