import { persistentVolumeClaims, statefulSets } from '../../../../kube/api/object.ts';
import type { ControlPlane } from '../../../support/real-parts/control-plane.ts';
import type { Release } from '../../../support/real-parts/release.ts';
import { startSubject } from './controllers.ts';
import type { Subject, SubjectName } from './controllers.ts';
import { RealWorld } from './real-world.ts';

/** A world without a StatefulSet controller. Claims stay unbound, so pods that have some are put on their node by their template. */
export function startWorld(release?: Release): Promise<RealWorld> {
  return RealWorld.begin({
    ...(release === undefined ? {} : { release }),
    more: [statefulSets, persistentVolumeClaims],
    fence: statefulSets,
    controllers: 'garbagecollector,namespace,pvc-protection',
    // As kubelets take. Where pods end at once kube-controller-manager may not have seen its own status yet that the next pod's revision hangs on: it
    // makes that of the old one, and has it go again.
    endMs: 200,
  });
}

/** @param more - flags besides. @default without leader election */
export function startKeeper(name: SubjectName, plane: ControlPlane, more: readonly string[] = ['--leader-elect=false']): Promise<Subject> {
  return startSubject(name, plane, more, 'statefulset');
}
