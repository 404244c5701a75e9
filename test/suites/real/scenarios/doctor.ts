import { chmodSync } from 'node:fs';
import { eventually } from '../../../support/eventually.ts';
import { scenario } from '../../systemd/inside/scenario.ts';
import { settled, systemctl } from '../../systemd/inside/systemctl.ts';
import { LOCAL_PODS } from '../inside/configs.ts';
import { KUBECONFIG, KUBELET_KUBECONFIG, NODE } from '../inside/names.ts';
import { releaseCluster } from '../inside/release-cluster.ts';
import { dkc, healthyOn } from '../inside/node.ts';

export interface NodeDoctor {
  code: number | null;
  /** `CHECK RESULT: DETAIL` of all that is not ok, and of the versions. */
  unusual: string[];
  versions: string[];
  table: string;
}

/** `dkc doctor` on a node with a real kubelet of today that has registered at a real API server. */
await scenario(async ({ programs }: { programs: string }): Promise<NodeDoctor> => {
  const { api, plane } = await releaseCluster(programs);
  systemctl('enable', 'dkc-agent.service', 'kubelet.service');
  for (const path of ['/etc/dkc/agent.yaml', KUBECONFIG, KUBELET_KUBECONFIG]) chmodSync(path, 0o600);
  systemctl('start', 'kubelet.service');
  await eventually('the Node', () => api.send<object>('GET', `/api/v1/nodes/${NODE}`).catch(() => undefined));
  await healthyOn(LOCAL_PODS);
  await settled();
  const { code, stdout } = dkc('doctor', '-o', 'json');
  const lines = JSON.parse(stdout) as { check: string; result: string; detail: string }[];
  const say = ({ check, result, detail }: (typeof lines)[number]): string => `${check} ${result}: ${detail}`;
  const { stdout: table } = dkc('doctor');
  await plane.stop();
  return {
    code,
    unusual: lines.filter(({ result }) => result !== 'ok').map(say),
    versions: lines.filter(({ check }) => ['kubelet-version', 'version-skew', 'kubelet-ports', 'agent-rights'].includes(check)).map(say),
    table,
  };
});
