import type { DaemonSet as DaemonSetFields } from 'kubernetes-types/apps/v1.js';
import type { Node as NodeFields, Pod as PodFields, PodTemplateSpec } from 'kubernetes-types/core/v1.js';
import type { Kube } from '../../kube/api/resources.ts';

export type DaemonSet = Kube<DaemonSetFields>;
export type Pod = Kube<PodFields>;
export type Node = Kube<NodeFields>;
export type PodTemplate = PodTemplateSpec;
