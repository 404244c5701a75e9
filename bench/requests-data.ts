import type { KubeObject } from '../kube/api/object.ts';

/** Objects that are patched, in namespace `default`. */
export const SMALL = 50;
/** Objects of the list, in namespace `kube-public`: 100 MB in all. */
export const ITEMS = 50_000;

/** A ConfigMap with quotes, numbers and nesting like a pod, of at least this many bytes. */
export function aConfigMap(name: string, namespace: string, bytes: number): KubeObject {
  const entry = '{"containers":[{"name":"web","image":"example/web:1.2.3","env":[{"name":"A","value":"1"}]}]}';
  const data: Record<string, string> = {};
  const annotations: Record<string, string> = {};
  for (let at = 0; at * 45 < bytes; at++) {
    if (at % 20 === 0) data[`config-${at}.json`] = entry;
    annotations[`example.com/annotation-${at}`] = `value-${at}`;
  }
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace, labels: { app: 'web', tier: 'front' }, annotations }, data };
}
