import { type KubeObject, persistentVolumeClaims, persistentVolumes } from '../../kube/api/object.ts';
import type { Client } from '../../kube/client/client.ts';
import type { Claim, PersistentVolume } from '../../scheduler/types.ts';
import { inParallel } from '../daemonset/fleet.ts';
import type { PodShape } from './pods.ts';

const IN_FLIGHT = 64;
const DRIVER = 'csi.bench.dkc.dev';

/** A pod with one of the bound claims of {@link addClaims}. */
export const withClaim = (prefix: string, n: number): PodShape => ({
  spec: { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: `${prefix}-${n}` } }] },
});

/**
 * Creates claims bound to volumes of a CSI driver that every node can use: the scheduler must read them, but writes nothing.
 * @returns a function that deletes the volumes; the claims are deleted with their namespace
 */
export async function addClaims(client: Client, namespace: string, prefix: string, count: number): Promise<() => Promise<void>> {
  const names = Array.from({ length: count }, (_, n) => `${prefix}-${n}`);
  const volumeOf = (name: string): string => `${namespace}-${name}`;
  const accessModes = ['ReadWriteOnce'];
  await inParallel(names, IN_FLIGHT, async (name) => {
    const volume = volumeOf(name);
    const csi = { driver: DRIVER, volumeHandle: volume };
    const common = { accessModes, storageClassName: '' };
    await client.create<PersistentVolume>(persistentVolumes, {
      metadata: { name: volume },
      spec: { ...common, capacity: { storage: '1Gi' }, claimRef: { namespace, name }, csi },
    });
    const metadata = { namespace, name, annotations: { 'pv.kubernetes.io/bind-completed': 'yes' } };
    const claim: KubeObject & Claim = { metadata, spec: { ...common, volumeName: volume, resources: { requests: { storage: '1Gi' } } } };
    await client.create<Claim>(persistentVolumeClaims, claim);
  });
  return () => inParallel(names, IN_FLIGHT, (name) => client.delete(persistentVolumes, { name: volumeOf(name) }));
}
