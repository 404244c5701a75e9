import type { Taint, Toleration } from 'kubernetes-types/core/v1.js';
import { toleratesTaint } from '../../kube/api/placement.ts';
import type { Node } from '../types.ts';
import type { Rejection } from './names.ts';

const cordon: Taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };

const cordoned: Rejection = { plugin: 'NodeUnschedulable', resolvable: false, reasons: ['node(s) were unschedulable'] };

/** A cordoned node takes only pods that tolerate the unschedulable taint. */
export function nodeUnschedulable(tolerations: readonly Toleration[], node: Readonly<Node>): Rejection | undefined {
  if (node.spec?.unschedulable !== true || tolerations.some((toleration) => toleratesTaint(toleration, cordon))) return undefined;
  return cordoned;
}
