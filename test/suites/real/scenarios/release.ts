import { chmodSync } from 'node:fs';
import { eventually } from '../../../support/eventually.ts';
import { scenario } from '../../systemd/inside/scenario.ts';
import { property, settled, systemctl } from '../../systemd/inside/systemctl.ts';
import { LOCAL_PODS, overlay } from '../inside/configs.ts';
import { KEY, KUBECONFIG, KUBELET_KUBECONFIG, NAMESPACE, NODE } from '../inside/names.ts';
import { releaseCluster } from '../inside/release-cluster.ts';
import { configureAgent, crashes, dkc, dkcJson, healthyOn, kubeletLife, since, starts, type KubeletLife } from '../inside/node.ts';
import { whyBesideConfigz, type WhyBesideConfigz } from '../inside/why.ts';

const NODE_CONFIGS = '/apis/dkc.dev/v1alpha1/nodeconfigs';

interface Named {
  configMap: { name: string };
}
interface Status {
  assigned?: Named | null;
  active?: Named | null;
  lastKnownGood?: Named | null;
  error?: string | null;
}

export interface ReleaseStory {
  carrier: string | null;
  /** From the assignment, in ms. */
  good: { healthyMs: number; trustedMs: number; starts: number; ready: string };
  why: WhyBesideConfigz;
  refused: { error: string; before: KubeletLife; after: KubeletLife; events: string[] };
  undone: { error: string; active: string | null; ms: number; crashes: number; reason: string };
  away: { starts: number; agentStarts: boolean; active: string | undefined };
  /** `dkc doctor` on the node as it was installed: its exit code, `CHECK RESULT: DETAIL` of all that is not ok and of the versions, and the table. */
  doctor: { code: number | null; unusual: string[]; versions: string[]; table: string };
}

function examined(): ReleaseStory['doctor'] {
  const { code, stdout } = dkc('doctor', '-o', 'json');
  const lines = JSON.parse(stdout) as { check: string; result: string; detail: string }[];
  const say = ({ check, result, detail }: (typeof lines)[number]): string => `${check} ${result}: ${detail}`;
  return {
    code,
    unusual: lines.filter(({ result }) => result !== 'ok').map(say),
    versions: lines.filter(({ check }) => ['kubelet-version', 'version-skew', 'kubelet-ports', 'agent-rights'].includes(check)).map(say),
    table: dkc('doctor').stdout,
  };
}

/** The life of a node on a cluster of today: assigned by its NodeConfig, trusted, refused, rolled back, without an API server. */
await scenario(async ({ programs }: { programs: string }): Promise<ReleaseStory> => {
  const { api, plane } = await releaseCluster(programs);
  systemctl('enable', 'dkc-agent.service', 'kubelet.service');
  for (const path of ['/etc/dkc/agent.yaml', KUBECONFIG, KUBELET_KUBECONFIG]) chmodSync(path, 0o600);
  systemctl('start', 'kubelet.service');
  await eventually('the Node', () => api.send<object>('GET', `/api/v1/nodes/${NODE}`).catch(() => undefined));
  await healthyOn(LOCAL_PODS);
  await settled();
  const doctor = examined();

  let made = false;
  const assign = async (name: string, config: string): Promise<number> => {
    const data = { [KEY]: config };
    await api.send('POST', `/api/v1/namespaces/${NAMESPACE}/configmaps`, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data });
    const spec = { configMap: { namespace: NAMESPACE, name, kubeletConfigKey: KEY } };
    if (made) await api.send('PATCH', `${NODE_CONFIGS}/${NODE}`, { spec });
    else await api.send('POST', NODE_CONFIGS, { apiVersion: 'dkc.dev/v1alpha1', kind: 'NodeConfig', metadata: { name: NODE }, spec });
    made = true;
    return performance.now();
  };
  const status = async (): Promise<Status> => (await api.send<{ status?: Status }>('GET', `${NODE_CONFIGS}/${NODE}`)).status ?? {};
  const until = (what: string, fits: (status: Status) => boolean): Promise<Status> =>
    eventually(what, async () => {
      const now = await status();
      return fits(now) ? now : undefined;
    }, 300_000); // prettier-ignore

  let at = await assign('good', overlay({ maxPods: 120, registryPullQPS: 7 }));
  await healthyOn(120);
  const healthyMs = since(at);
  await until('trust', ({ lastKnownGood }) => lastKnownGood?.configMap.name === 'good');
  const trustedMs = since(at);
  const node = await api.send<{ status: { conditions: { type: string; status: string }[] } }>('GET', `/api/v1/nodes/${NODE}`);
  const ready = node.status.conditions.find(({ type }) => type === 'Ready')?.status ?? '';
  const good = { healthyMs, trustedMs, starts: starts(), ready };
  const { assignment } = dkcJson<{ assignment: { carrier: string | null } }>('status');
  const why = await whyBesideConfigz();

  const before = kubeletLife();
  at = await assign('refused', overlay({ maxPods: 121, syncFrequency: '-1s' }));
  const refusal = await until('a refusal', ({ error }) => (error ?? '').startsWith('failed to validate'));
  await settled();
  const { items } = await api.send<{ items: { reason: string; message: string }[] }>('GET', '/api/v1/namespaces/default/events');
  const events = items.filter(({ reason }) => reason === 'KubeletConfigRefused').map(({ message }) => message);
  const refused = { error: refusal.error ?? '', before, after: kubeletLife(), events };

  await configureAgent({ preflight: false, trialDuration: '10m' });
  const ended = crashes();
  at = await assign('killer', overlay({ maxPods: 122, systemReserved: { memory: '1000Ti' } }));
  const rolledBack = await until('a rollback', ({ error }) => (error ?? '').startsWith('failed trial'));
  await healthyOn(120);
  const ms = since(at);
  const { condemned } = dkcJson<{ condemned: { name: string; reason: string }[] }>('status');
  const undone = {
    error: rolledBack.error ?? '',
    active: rolledBack.active?.configMap.name ?? null,
    ms,
    crashes: crashes() - ended,
    reason: condemned.find(({ name }) => name === 'killer')?.reason ?? '',
  };

  // Without an API server agent and kubelet start on what is on disk.
  await plane.stop();
  const from = starts();
  const agent = property('dkc-agent.service', 'MainPID');
  systemctl('restart', 'dkc-agent.service');
  systemctl('restart', 'kubelet.service');
  await healthyOn(120);
  const shown = dkcJson<{ active: { name: string } | null }>('status');
  const away = { starts: starts() - from, agentStarts: property('dkc-agent.service', 'MainPID') !== agent, active: shown.active?.name };
  return { carrier: assignment.carrier, good, why, refused, undone, away, doctor };
});
