import { join } from 'node:path';
import type { ControlPlane } from '../../../support/real-parts/control-plane.ts';
import { controllerManager } from '../../../support/real-parts/controller-manager.ts';
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
  plane: Pick<ControlPlane, 'kubeconfig' | 'ca' | 'release' | 'servingCertificate'>,
  more: readonly string[] = ['--leader-elect=false'],
  controllers = 'daemonset',
): Promise<Subject> {
  return startProcess(name, plane, async (place) => {
    const plan = name === 'dkc' ? ours(controllers, place) : await controllerManager({ plane, controllers, ...place });
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
