import { openLog } from '../../../../base/pino-log.ts';
import { adminClient } from '../../../support/real-parts/admin-client.ts';
import { startControlPlane } from '../../../support/real-parts/control-plane.ts';
import type { ControlPlane } from '../../../support/real-parts/control-plane.ts';
import { builtRelease } from '../../../support/real-parts/release.ts';
import type { Release } from '../../../support/real-parts/release.ts';
import { SYSTEM_NAMESPACE } from '../../../../deploy/rights.ts';
import { SCHEDULER, scheduler as schedulerObjects, sets, SETS } from '../../../../deploy/deployments.ts';
import { type KubeObject, namespaces } from '../../../../kube/api/object.ts';
import { World } from '../../../support/stories/world.ts';
import type { WorldOptions } from '../../../support/stories/world.ts';
import type { SubjectName } from './controllers.ts';
import { allow } from './rollout-account.ts';

/** The account of what the manifests run under this name. */
const tokenOf = (name: string) => ({ token: name, user: `system:serviceaccount:${SYSTEM_NAMESPACE}:${name}`, groups: [] });

/** Parts that a real world is made of. */
export const worldParts = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'];

export interface RealWorldOptions extends WorldOptions {
  /** What runs of kube-controller-manager; '' for none. @default 'garbagecollector,namespace' */
  controllers?: string;
  /** Of all programs. @default 1.20.2 */
  release?: Release;
  /** Whether a kube-scheduler runs, as it comes. @default true */
  scheduler?: boolean;
  /** Flags of the API server besides. */
  apiServerArgs?: readonly string[];
}

/** A world on a real control plane, which lacks only the controllers or the scheduler under test. */
export class RealWorld extends World {
  readonly plane: ControlPlane;

  static async begin({
    controllers = 'garbagecollector,namespace',
    scheduler = true,
    release = builtRelease,
    apiServerArgs = [],
    ...options
  }: RealWorldOptions = {}): Promise<RealWorld> {
    const plane = await startControlPlane({
      release,
      scheduler,
      ...(controllers === '' ? {} : { controllers }),
      extraTokens: [tokenOf(SETS), tokenOf(SCHEDULER)],
      apiServerArgs: ['--enable-admission-plugins=OwnerReferencesPermissionEnforcement', ...apiServerArgs],
    });
    const world = new RealWorld(plane, options);
    await world.client.create<KubeObject>(namespaces, { metadata: { name: SYSTEM_NAMESPACE } });
    await allow(world.client, [...sets('dkc', release.minor), ...schedulerObjects('dkc', release.minor)]);
    await world.run();
    return world;
  }

  /** The plane for whose DaemonSet and StatefulSet controllers: ours have the rights that the manifests give them and no others. */
  planeFor(subject: SubjectName): ControlPlane {
    return subject === 'dkc' ? this.#as(SETS) : this.plane;
  }

  /** The plane for our scheduler, with the rights that the manifests give it. */
  get planeForScheduler(): ControlPlane {
    return this.#as(SCHEDULER);
  }

  #as(token: string): ControlPlane {
    return { ...this.plane, kubeconfig: () => this.plane.kubeconfig(token) };
  }

  private constructor(plane: ControlPlane, options: WorldOptions) {
    const log = openLog({ level: 'error' });
    const client = adminClient(plane, log);
    const stop = async (): Promise<void> => {
      await client.close();
      await plane.stop();
    };
    super({ client, log, stop }, options);
    this.plane = plane;
  }
}
