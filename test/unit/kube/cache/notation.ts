import type { KubeObject } from '../../../../kube/api/object.ts';
import type { WatchEvent } from '../../../../kube/client/client.ts';

/** `web#1@5`: the object web in namespace ns, of uid 1, at version 5; `?` one without a name. */
export function object(text: string): KubeObject {
  if (text === '?') return { metadata: { uid: '1', resourceVersion: '6' } };
  const [, name = '', uid = '', resourceVersion = ''] = /^([a-z0-9-]+)#(\w+)@(\w*)$/.exec(text) ?? [];
  if (name === '') throw new Error(`not an object: ${text}`);
  return { apiVersion: 'v1', kind: 'Pod', metadata: { namespace: 'ns', name, uid, resourceVersion } };
}

export function objects(text: string): KubeObject[] {
  return text.split(' ').filter(Boolean).map(object);
}

/** The other way round; `-` for nothing. */
export function written(of: KubeObject | undefined): string {
  return of === undefined ? '-' : `${of.metadata.name}#${of.metadata.uid}@${of.metadata.resourceVersion}`;
}

/** `ADDED web#1@5`; `BOOKMARK 9`, `BOOKMARK 9 end` for the end of the initial events. */
export function event(text: string): WatchEvent {
  const [type = '', what = '', end] = text.split(' ');
  if (type === 'BOOKMARK') {
    const annotations = end === undefined ? {} : { annotations: { 'k8s.io/initial-events-end': 'true' } };
    return { type, object: { metadata: { resourceVersion: what, ...annotations } } };
  }
  return { type: type as WatchEvent['type'], object: object(what) };
}
