import type { Rejection } from './names.ts';

const otherNode: Rejection = { plugin: 'NodeName', resolvable: false, reasons: ["node(s) didn't match the requested node name"] };

/** @param wanted - `spec.nodeName`; '' for any */
export function nodeName(wanted: string, node: string): Rejection | undefined {
  return wanted === '' || wanted === node ? undefined : otherNode;
}
