import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { DaemonPlan } from '../../../support/real-parts/daemon.ts';
import { realParts } from '../../../support/real-parts/real-kubelet.ts';

/** More than it ever asks for. */
const NO_LIMIT = 100_000;

export interface KubeSchedulerOptions {
  /** Its own folder. */
  home: string;
  /** Path. */
  kubeconfig: string;
  port: number;
  /** Keys of the configuration besides. */
  config?: Record<string, unknown>;
  /** Flags besides. */
  more?: readonly string[];
}

/** How upstream's scheduler is started, without leader election and without a limit of its own. */
export async function kubeScheduler({
  home,
  kubeconfig,
  port,
  config = {},
  more = [],
}: KubeSchedulerOptions): Promise<Pick<DaemonPlan, 'program' | 'args' | 'ready'>> {
  const { dir } = await realParts(['kube-scheduler']);
  const file = join(home, 'kube-scheduler.yaml');
  const address = `127.0.0.1:${port}`;
  const text = stringify({
    apiVersion: 'kubescheduler.config.k8s.io/v1beta1',
    kind: 'KubeSchedulerConfiguration',
    clientConnection: { kubeconfig, qps: NO_LIMIT, burst: NO_LIMIT },
    leaderElection: { leaderElect: false },
    // Both the same; left out, they are every address of the machine.
    healthzBindAddress: address,
    metricsBindAddress: address,
    ...config,
  });
  await writeFile(file, text);
  const args = [`--config=${file}`, '--secure-port=0', ...more];
  return { program: join(dir, 'kube-scheduler'), args, ready: { url: `http://${address}/healthz` } };
}
