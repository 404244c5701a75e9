import { type KubeObject, persistentVolumeClaims, persistentVolumes, type Resource, storageClasses } from '../../../../kube/api/object.ts';
import type { Client } from '../../../../kube/client/client.ts';
import type { Claim, CsiCapacity, CsiDriver, StorageClass, Volume } from '../../../../scheduler/types.ts';
import type { StorageView } from '../../../../scheduler/volumes/contract.ts';
import { listedStorage } from '../../../../scheduler/volumes/view.ts';
import type { Chance } from '../../../unit/scheduler/oracle/chance.ts';

const storage = (resource: string, kind: string, namespaced = false): Resource => {
  return { group: 'storage.k8s.io', version: 'v1', resource, kind, namespaced };
};
const drivers = storage('csidrivers', 'CSIDriver');
const capacities = storage('csistoragecapacities', 'CSIStorageCapacity', true);
const DRIVER = 'csi.example.com';

/** What a pod asks of storage, and what there is of it. Each has classes of its own, so that no pod takes what another one counts on. */
export interface PodStorage {
  name: string;
  classes: readonly { className: string; isLocal: boolean; racks: readonly { rack: string; gi: number; largestGi?: number }[] }[];
  claims: readonly { claim: string; className: string; gi: number }[];
}

/** @param racks - of nodes, each with the label `rack` */
export function randomStorage(chance: Chance, name: string, racks: number): PodStorage {
  const classes = Array.from({ length: 1 + chance.upTo(2) }, (_, n) => {
    const isLocal = chance.of(30);
    const each = Array.from({ length: racks }, (__, rack) => ({
      rack: `r${rack}`,
      gi: 10 + chance.upTo(190),
      ...(!isLocal && chance.of(20) ? { largestGi: 20 + chance.upTo(60) } : {}),
    }));
    return { className: `${name}-${'ab'[n]}`, isLocal, racks: chance.some(each, 85) };
  });
  const claims = Array.from({ length: 1 + chance.upTo(3) }, (_, n) => ({
    claim: `${name}-c${n}`,
    className: chance.one(classes).className,
    gi: 5 + chance.upTo(chance.of(10) ? 300 : 45),
  }));
  return { name, classes, claims };
}

/** Creates it twice, for a pod of each scheduler. */
export async function createStorage(client: Client, namespace: string, { classes, claims, name }: PodStorage): Promise<void> {
  if (name === 'p0') await client.create<CsiDriver & KubeObject>(drivers, { metadata: { name: DRIVER }, spec: { storageCapacity: true } });
  const all: Promise<unknown>[] = [];
  for (const who of ['theirs', 'ours']) {
    for (const { className, isLocal, racks } of classes) {
      const storageClass = `${className}-${who}`;
      all.push(
        client.create<StorageClass & KubeObject>(storageClasses, {
          metadata: { name: storageClass },
          provisioner: isLocal ? 'kubernetes.io/no-provisioner' : DRIVER,
          volumeBindingMode: 'WaitForFirstConsumer',
        }),
      );
      for (const one of racks)
        all.push(isLocal ? createVolumes(client, storageClass, one) : createCapacity(client, namespace, storageClass, one));
    }
    for (const { claim, className, gi } of claims)
      all.push(
        client.create<Claim>(persistentVolumeClaims, {
          metadata: { name: `${claim}-${who}`, namespace },
          spec: {
            storageClassName: `${className}-${who}`,
            accessModes: ['ReadWriteOnce'],
            resources: { requests: { storage: `${gi}Gi` } },
          },
        }),
      );
  }
  await Promise.all(all);
}

type Rack = PodStorage['classes'][number]['racks'][number];

/** Two, of this size and of half of it. Nobody makes them Available but this: there is no volume controller. */
async function createVolumes(client: Client, storageClassName: string, { rack, gi }: Rack): Promise<void> {
  for (const size of [gi, Math.ceil(gi / 2)]) {
    const name = `${storageClassName}-${rack}-${size}`;
    const required = { nodeSelectorTerms: [{ matchExpressions: [{ key: 'rack', operator: 'In', values: [rack] }] }] };
    await client.create<Volume>(persistentVolumes, {
      metadata: { name },
      spec: {
        storageClassName,
        capacity: { storage: `${size}Gi` },
        accessModes: ['ReadWriteOnce'],
        local: { path: '/mnt' },
        nodeAffinity: { required },
      },
    });
    await client.patch(persistentVolumes, { name }, { status: { phase: 'Available' } }, { type: 'merge', subresource: 'status' });
  }
}

async function createCapacity(client: Client, namespace: string, storageClassName: string, { rack, gi, largestGi }: Rack): Promise<void> {
  await client.create<CsiCapacity & KubeObject>(capacities, {
    metadata: { name: `${storageClassName}-${rack}`, namespace },
    storageClassName,
    capacity: `${gi}Gi`,
    nodeTopology: { matchLabels: { rack } },
    ...(largestGi === undefined ? {} : { maximumVolumeSize: `${Math.min(gi, largestGi)}Gi` }),
  });
}

/** As the server has it now. */
export async function storageOf(client: Client): Promise<StorageView> {
  const list = async <T extends KubeObject>(resource: Resource): Promise<readonly T[]> => (await client.list<T>(resource)).items;
  return listedStorage(
    {
      claims: await list<Claim>(persistentVolumeClaims),
      volumes: await list<Volume>(persistentVolumes),
      storageClasses: await list<StorageClass & KubeObject>(storageClasses),
      csiDrivers: await list<CsiDriver & KubeObject>(drivers),
      capacities: await list<CsiCapacity & KubeObject>(capacities),
      csiNodes: [],
      attachments: [],
    },
    [],
  );
}
