import { scenario } from '../../../systemd/inside/scenario.ts';
import { settled } from '../../../systemd/inside/systemctl.ts';
import { eventually } from '../../../../support/eventually.ts';
import { config, LOCAL_PODS } from '../../inside/configs.ts';
import { KEY, NAMESPACE, NODE } from '../../inside/names.ts';
import { dkc, dkcJson, healthyOn, journal, kubeletLife, type KubeletLife } from '../../inside/node.ts';
import { ADMIN_KUBECONFIG, onlineNode, type RealCluster } from '../inside/cluster.ts';

interface StatusSeen {
  assignment: { carrier: string | null; why: string };
  error: string | null;
}

export interface GateOff {
  /** spec.configSource and status.config, as kubectl shows them in the end. */
  node: string;
  /** What a raw write of the assignment came back as. */
  written: string;
  warnings: string[];
  status: StatusSeen;
  people: string;
  assign: { code: number | null; stderr: string };
  kubelet: { before: KubeletLife; after: KubeletLife };
}

/** The same node where the API server has the feature off: it says 200 to everything and keeps none of it. */
await scenario(async (): Promise<GateOff> => {
  await using cluster = await onlineNode({ dynamicKubeletConfig: false });
  const before = await healthyOn(LOCAL_PODS);
  await settled();
  await cluster.assign('good', config({ maxPods: 120 }));
  const written = shown(cluster);
  const dropped = (): string[] => journal('dkc-agent.service').filter((line) => line.startsWith('no object can assign'));
  await eventually('a word about it', () => dropped().length > 0);
  const status = await eventually('dkc status to say so', () => {
    const seen = dkcJson<StatusSeen>('status');
    return seen.assignment.why.includes('drops') ? seen : undefined;
  });
  const people = dkc('status').stdout;
  const source = [`--configmap=${NAMESPACE}/good`, `--key=${KEY}`];
  const { code, stderr } = dkc('assign', NODE, ...source, `--kubeconfig=${ADMIN_KUBECONFIG}`);
  return {
    node: shown(cluster),
    written,
    warnings: dropped(),
    status,
    people,
    assign: { code, stderr },
    kubelet: { before, after: kubeletLife() },
  };
});

function shown(cluster: RealCluster): string {
  return cluster.kubectl('get', 'node', NODE, '-o', 'jsonpath=[{.spec.configSource}][{.status.config}]');
}
