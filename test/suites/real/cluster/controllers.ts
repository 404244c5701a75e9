import { join } from 'node:path';
import type { ControlPlane } from '../../../support/real-parts/control-plane.ts';
import { realParts } from '../../../support/real-parts/real-kubelet.ts';
import { root, startProcess } from './subject.ts';
import type { Place, Subject } from './subject.ts';

export type { Subject } from './subject.ts';

/** Whose controllers work: upstream's, or ours as people run them. */
export type SubjectName = 'kube-controller-manager' | 'dkc';

/**
 * Starts controllers of `name` for a control plane that has none of them; they work when this returns.
 * @param more - flags besides. @default without leader election
 * @param controllers - names, with commas
 */
export function startSubject(
  name: SubjectName,
  plane: Pick<ControlPlane, 'kubeconfig' | 'ca'>,
  more: readonly string[] = ['--leader-elect=false'],
  controllers = 'daemonset',
): Promise<Subject> {
  return startProcess(name, plane, async (place) => {
    const plan = name === 'dkc' ? ours(controllers, place) : await upstreams(controllers, place);
    return { ...plan, args: [...plan.args, ...more] };
  });
}

function ours(controllers: string, { kubeconfig, port }: Place) {
  const flags = [`--controllers=${controllers}`, `--kubeconfig=${kubeconfig}`, `--metrics-bind-address=127.0.0.1:${port}`];
  return {
    program: process.execPath,
    args: [join(root, 'cli/main.ts'), 'controllers', 'run', ...flags],
    ready: { url: `http://127.0.0.1:${port}/readyz` },
  };
}

async function upstreams(controllers: string, { kubeconfig, port }: Place) {
  const { dir } = await realParts(['kube-controller-manager']);
  // Its own limit of requests would only be waited for.
  const flags = [`--controllers=${controllers}`, `--kubeconfig=${kubeconfig}`, '--kube-api-qps=500', '--kube-api-burst=1000'];
  return {
    program: join(dir, 'kube-controller-manager'),
    args: [...flags, '--bind-address=127.0.0.1', '--address=127.0.0.1', `--port=${port}`, '--secure-port=0'],
    ready: { url: `http://127.0.0.1:${port}/healthz` },
  };
}
