import type { AdminFacts } from '../../agent/admin/facts.ts';
import type { MaybeSource, Source } from '../../agent/checkpoint/source.ts';
import type { ActiveRecord } from '../../agent/store/active-record.ts';
import { contentRef, sha256 } from '../../agent/checkpoint/payload.ts';
import type { RefusedRecord } from '../../agent/store/store.ts';
import type { CheckpointEntry, CondemnedRecord, MetaRecord } from '../../agent/store/store.ts';

/** A source of ConfigMap ns/web, uid `u1`, by its resource version; `u2/7` names another uid. */
export function source(text: string): Source {
  const [uid = '', resourceVersion = ''] = text.includes('/') ? text.split('/') : ['u1', text];
  return { namespace: 'ns', name: 'web', uid, resourceVersion, kubeletConfigKey: 'kubelet' };
}

/** A checkpoint in the same notation; `7=x` has content x (else that of its own name), with `!` it is damaged. */
export function entry(text: string): CheckpointEntry {
  const [name = '', content] = text.replace('!', '').split('=');
  const { uid, resourceVersion } = source(name);
  const files = [{ key: 'kubelet', bytes: 10, sha256: sha256(content ?? name) }];
  const manifest = { namespace: 'ns', name: 'web', savedAt: '2026-01-01T00:00:00.000Z', annotations: {}, files };
  const about = { ref: { uid, resourceVersion }, manifest };
  return text.includes('!') ? { ...about, state: 'damaged', problem: 'torn' } : { ...about, state: 'intact' };
}

/** A condemnation of the content that `entry(text)` has. */
export function condemnation(text: string, over: Partial<CondemnedRecord> = {}): CondemnedRecord {
  const { ref, manifest } = entry(text);
  const of = { ...source(`${ref.uid}/${ref.resourceVersion}`), ...contentRef(manifest?.files ?? [], 'kubelet') };
  return { ...of, reason: 'kubelet exits', evidence: [], by: 'agent', at: '2026-01-02T00:00:00.000Z', retry: '', ...over };
}

export interface Given {
  /** Newest first: `9 8=x 7!`. */
  stored?: string;
  /** `-` none, `?` missing, `!` damaged, else a source. @default '-' */
  assigned?: string;
  lkg?: string;
  /** `assigned 9`, `local`; absent: no agent wrote it down. */
  active?: string;
  error?: string;
  condemned?: readonly CondemnedRecord[];
  refused?: RefusedRecord | undefined;
}

export function adminFacts({ stored = '', assigned = '-', lkg = '-', active, error, condemned = [], refused }: Given): AdminFacts {
  return {
    assigned: record(assigned),
    lastKnownGood: record(lkg),
    active: active === undefined ? undefined : { ok: true, record: activeRecord(active, error) },
    trial: undefined,
    condemned,
    refused,
    journal: [],
    local: { path: '/local.yaml', at: 'present' },
    entries: stored.split(' ').filter(Boolean).map(entry), // prettier-ignore
    effective: { path: '/d/kubelet.yaml', sha256: 'e', text: '' },
    problems: [],
  };
}

function record(text: string): MetaRecord {
  if (text === '?') return { at: 'missing' };
  if (text === '!') return { at: 'damaged', path: '/d/store/meta/x', problem: 'it is not YAML' };
  return { at: 'known', source: text === '-' ? null : source(text) };
}

function activeRecord(text: string, error: string | undefined): ActiveRecord {
  const [used, name] = text.split(' ') as [ActiveRecord['used'], string | undefined];
  const of: MaybeSource = name === undefined ? null : source(name);
  const about = { effectiveSha256: 'e', carrier: 'node', why: 'it is kept', at: '2026-01-03T00:00:00.000Z' } as const;
  return { used, source: of, error: error ?? null, ...about };
}
