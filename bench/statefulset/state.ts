import type { KubeObject } from '../../kube/api/object.ts';

/** Number of sets, and of pods in each. */
export interface Shape {
  sets: number;
  replicas: number;
  podManagementPolicy: 'OrderedReady' | 'Parallel';
}

export interface StatefulSetState extends KubeObject {
  status?: {
    observedGeneration?: number;
    replicas?: number;
    readyReplicas?: number;
    currentReplicas?: number;
    updatedReplicas?: number;
    currentRevision?: string;
    updateRevision?: string;
  };
}

/** Whether the status reports all pods as created, ready and of the only revision. @param generation - minimum observed generation */
export function isDone({ metadata, status = {} }: Readonly<StatefulSetState>, replicas: number, generation: number): boolean {
  const { observedGeneration, currentRevision, updateRevision } = status;
  const counts = [status.replicas, status.readyReplicas, status.currentReplicas, status.updatedReplicas];
  const isSeen = (metadata.generation ?? 0) >= generation && observedGeneration === metadata.generation;
  return isSeen && currentRevision === updateRevision && counts.every((count) => count === replicas);
}

export const podsOf = ({ sets, replicas }: Shape): number => sets * replicas;

/** `100 x 10 OrderedReady`. */
export function shapeText({ sets, replicas, podManagementPolicy }: Shape): string {
  return `${sets.toLocaleString('en')} x ${replicas.toLocaleString('en')} ${podManagementPolicy}`;
}
