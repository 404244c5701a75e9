import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { eventually } from '../../../support/eventually.ts';
import { startControlPlane, type ControlPlane, type ControlPlaneOptions } from '../../../support/real-parts/control-plane.ts';
import { givenRelease } from '../../../support/real-parts/release.ts';
import { Api } from '../../systemd/inside/api.ts';
import { run } from '../../systemd/inside/program.ts';
import { KUBECONFIG, KUBELET_KUBECONFIG, NODE, NODE_IP } from './names.ts';
import { dkc } from './node.ts';

/** Kubeconfig of the admin on the machine. */
export const ADMIN = '/etc/kubernetes/admin.conf';

export interface ReleaseCluster {
  api: Api;
  plane: ControlPlane;
  /** As the admin. @returns what it prints @throws where it does not end with 0 */
  kubectl: (...args: string[]) => string;
}

/** A file that only root reads. */
export function writePrivate(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text, { mode: 0o600 });
}

/** A machine whose node has joined a cluster of today: an API server, and kubeconfigs of admin and kubelet. */
export async function joinedNode(programs: string, options: ControlPlaneOptions = {}): Promise<{ plane: ControlPlane; kubectl: string }> {
  run('ip', 'address', 'add', `${NODE_IP}/32`, 'dev', 'lo');
  const release = await givenRelease(programs);
  const { kubectl } = await release.programs(['kubectl']);
  const plane = await startControlPlane({ release, nodes: [NODE], ...options });
  writePrivate(ADMIN, plane.kubeconfig());
  writePrivate(KUBELET_KUBECONFIG, plane.kubeconfig(plane.nodeToken(NODE)));
  return { plane, kubectl };
}

/** Everything that a machine of a cluster of today needs: API server, definitions, roles, and the node's own token for agent and kubelet. */
export async function releaseCluster(programs: string, options: ControlPlaneOptions = {}): Promise<ReleaseCluster> {
  const { plane, kubectl: program } = await joinedNode(programs, options);
  writePrivate('/run/manifests.yaml', dkc('deploy', 'manifests', `--kubernetes-version=${plane.release.version}`).stdout);
  const kubectl = (...args: string[]): string => run(program, `--kubeconfig=${ADMIN}`, ...args);
  // The definition is served a moment after it is made, and the policy checks what is of its kind.
  await eventually('the manifests', () => {
    try {
      kubectl('apply', '-f', '/run/manifests.yaml');
      return true;
    } catch {
      return false;
    }
  });
  writePrivate(KUBECONFIG, plane.kubeconfig(plane.nodeToken(NODE)));
  return { api: new Api(ADMIN), plane, kubectl };
}
