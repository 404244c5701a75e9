import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { hasInsecurePorts } from '../../../support/real-parts/control-plane.ts';
import { NO_LIMIT, type ProgramOptions, secureServing } from '../../../support/real-parts/controller-manager.ts';
import type { DaemonPlan } from '../../../support/real-parts/daemon.ts';

export interface KubeSchedulerOptions extends ProgramOptions {
  /** Keys of the configuration besides. */
  config?: Record<string, unknown>;
}

/** How upstream's scheduler is started, without leader election and without a limit of its own. @throws {RealPartsUnavailable} */
export async function kubeScheduler(options: KubeSchedulerOptions): Promise<Pick<DaemonPlan, 'program' | 'args' | 'ready'>> {
  const { plane, home, kubeconfig, port, config = {}, more = [] } = options;
  const { 'kube-scheduler': program } = await plane.release.programs(['kube-scheduler']);
  const file = join(home, 'kube-scheduler.yaml');
  const address = `127.0.0.1:${port}`;
  const isOld = hasInsecurePorts(plane.release);
  const text = stringify({
    apiVersion: `kubescheduler.config.k8s.io/${isOld ? 'v1beta1' : 'v1'}`,
    kind: 'KubeSchedulerConfiguration',
    clientConnection: { kubeconfig, qps: NO_LIMIT, burst: NO_LIMIT },
    leaderElection: { leaderElect: false },
    // Both the same; left out, they are every address of the machine.
    ...(isOld ? { healthzBindAddress: address, metricsBindAddress: address } : {}),
    ...config,
  });
  await writeFile(file, text);
  const serving = isOld ? { args: ['--secure-port=0'], url: `http://${address}/healthz` } : await secureServing(plane, home, port);
  const own = isOld
    ? []
    : ['--bind-address=127.0.0.1', `--authentication-kubeconfig=${kubeconfig}`, `--authorization-kubeconfig=${kubeconfig}`];
  return { program, args: [`--config=${file}`, ...own, ...serving.args, ...more], ready: { url: serving.url } };
}
