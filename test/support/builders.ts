import type { ContentRef, Payload, Source } from '../../agent/checkpoint/source.ts';
import { contentRef, digestFiles } from '../../agent/checkpoint/payload.ts';
import type { CondemnedRecord } from '../../agent/store/store.ts';

/** `web@41` or `web@41:KEY`, in dkc-system; the uid is `u-NAME`. */
export function source(text: string): Source {
  const [, name = '', resourceVersion = '', kubeletConfigKey = 'kubelet'] = /^([^@]+)@([^:]+)(?::(.+))?$/.exec(text) ?? [];
  return { namespace: 'dkc-system', name, uid: `u-${name}`, resourceVersion, kubeletConfigKey };
}

/** The content of a payload that holds just this text under `key`. */
export function content(text: string, key = 'kubelet'): ContentRef {
  return contentRef(digestFiles(filesOf({ [key]: text })), key);
}

export function payload(of: Source, files: Readonly<Record<string, string>>, annotations: Readonly<Record<string, string>> = {}): Payload {
  const { namespace, name, uid, resourceVersion } = of;
  return { namespace, name, uid, resourceVersion, files: filesOf(files), annotations };
}

export function condemned(what: ContentRef, over: Partial<CondemnedRecord> = {}): CondemnedRecord {
  const { uid, resourceVersion, namespace, name } = source('web@1');
  const who = { uid, resourceVersion, namespace, name, reason: 'kubelet exited 3 times', evidence: [], at: '2026-03-01T00:00:00Z' };
  return { ...who, ...what, by: 'agent', retry: '', ...over };
}

export function filesOf(files: Readonly<Record<string, string>>): Map<string, Uint8Array> {
  return new Map(Object.entries(files).map(([key, text]) => [key, new TextEncoder().encode(text)]));
}
