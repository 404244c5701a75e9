import { eventually } from '../../../support/eventually.ts';
import { scenario } from '../../systemd/inside/scenario.ts';
import { settled, systemctl } from '../../systemd/inside/systemctl.ts';
import { LOCAL_PODS } from '../inside/configs.ts';
import { KEY, NAMESPACE, NODE } from '../inside/names.ts';
import { ADMIN, releaseCluster } from '../inside/release-cluster.ts';
import { configz, crashes, dkc, dkcJson, healthyOn, journal, kubeletLife, since, starts } from '../inside/node.ts';
import { importImage, SleeperPod, type Pod } from '../inside/sleeper-pod.ts';
import { whyBesideConfigz, type WhyBesideConfigz } from '../inside/why.ts';

/** What an assignment led to. */
export interface Assigned {
  /** Of `dkc assign --wait`, and what it printed. */
  code: number | null;
  told: string;
  ms: number;
  /** Starts of the kubelet, and ends that nobody asked for. */
  starts: number;
  crashes: number;
  sameKubelet: boolean;
  configz: Record<string, unknown>;
  /** By `dkc status` on the node. */
  active: string | undefined;
  healthy: boolean | null;
  pod: Pod;
}

export interface ContainerdStory {
  /** As the Node has them. */
  nodeInfo: { containerRuntimeVersion: string; kubeletVersion: string };
  before: Pod;
  changed: Assigned;
  why: WhyBesideConfigz;
  undone: Assigned;
  /** Of kubelets that ended by themselves. */
  lastWords: string[];
}

export interface ConfigMapPlan {
  annotations?: Record<string, string>;
  config: string;
}

interface Options {
  programs: string;
  good: ConfigMapPlan;
  killer: ConfigMapPlan;
  /** Of the good configuration. */
  maxPods: number;
}

/** A node of a cluster of today whose pods run: assigned, trusted, and rolled back from what ends its kubelet. */
await scenario(async ({ programs, good, killer, maxPods }: Options): Promise<ContainerdStory> => {
  const cluster = await releaseCluster(programs);
  const { api } = cluster;
  systemctl('start', 'containerd.service');
  importImage();
  systemctl('start', 'kubelet.service');
  const node = (): Promise<{ status: Pick<ContainerdStory, 'nodeInfo'> } | undefined> =>
    api.send<{ status: Pick<ContainerdStory, 'nodeInfo'> }>('GET', `/api/v1/nodes/${NODE}`).catch(() => undefined);
  const { nodeInfo } = (await eventually('the Node', node)).status;
  await healthyOn(LOCAL_PODS);
  await settled();
  const pod = new SleeperPod(cluster);
  const before = await pod.start();

  const assign = async (name: string, { annotations = {}, config }: ConfigMapPlan): Promise<Assigned> => {
    const [life, ended, started] = [kubeletLife(), crashes(), starts()];
    const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, annotations }, data: { [KEY]: config } };
    await api.send('POST', `/api/v1/namespaces/${NAMESPACE}/configmaps`, configMap);
    const at = performance.now();
    const source = [`--configmap=${NAMESPACE}/${name}`, `--key=${KEY}`];
    const { code, stdout, stderr } = dkc('assign', NODE, ...source, '--wait', '--timeout=2m', `--kubeconfig=${ADMIN}`);
    const { pid } = await healthyOn(maxPods);
    const ms = since(at);
    await settled();
    const { active, kubelet } = dkcJson<{ active: { name: string } | null; kubelet: { healthy: boolean | null } }>('status');
    return {
      code,
      told: stdout + stderr,
      ms,
      starts: starts() - started,
      crashes: crashes() - ended,
      sameKubelet: pid === life.pid,
      configz: (await configz()) ?? {},
      active: active?.name,
      healthy: kubelet.healthy,
      pod: await pod.seen(),
    };
  };
  const changed = await assign('good', good);
  const why = await whyBesideConfigz();
  const undone = await assign('killer', killer);
  const lastWords = journal('kubelet.service').filter((line) => line.includes('"command failed"'));
  await cluster.plane.stop();
  return { nodeInfo, before, changed, why, undone, lastWords };
});
