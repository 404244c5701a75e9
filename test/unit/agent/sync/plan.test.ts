import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ContentRef, MaybeSource } from '../../../../agent/checkpoint/source.ts';
import { refusedRecord } from '../../../../agent/store/records.ts';
import type { RefusedRecord } from '../../../../agent/store/store.ts';
import { planSync, refusalDetail, type SyncFacts, type SyncStep, type Verdict, type Wanted } from '../../../../agent/sync/plan.ts';
import { condemned, content, payload, source } from '../../../support/builders.ts';

const TRIAL = 'failed trial, see dkc-agent log for details';
const ROLLED_BACK = 'rolled back by admin, see dkc-agent log for details';
const LOAD = 'failed to load config, see Kubelet log for details';
const VALIDATE = 'failed to validate config, see Kubelet log for details';
const INTERNAL = 'internal failure, see Kubelet log for details';
const DOWNLOAD = 'failed to sync: failed to download config, see Kubelet log for details';
const NO_SOURCE = 'failed to sync: invalid NodeConfigSource, exactly one subfield must be non-nil, but all were nil';
const SYNC_INTERNAL = 'failed to sync: internal failure, see Kubelet log for details';

/**
 * `web@4=A` is a source and its content, `local` none, `?` a record that is missing, `!` one that is damaged. What the API wants may be a separate word, with notes: `unsaved`,
 * `retry=1`; `clashes`: its checkpoint has another content. Boot tried the assigned one unless `tried`; `condemned` is content, who and its retry annotation.
 */
// prettier-ignore
type Row = { why: string; wants: string; assigned: string; active?: string; lkg?: string; lacksFile?: true; tried?: string; bootError?: string;
  condemned?: string; verdict?: 'ok' | 'download' | 'load' | 'validate' | 'internal' | 'off'; refused?: string; steps: string[] };

// prettier-ignore
const rows: Row[] = [
  // Nothing wanted
  { why: 'rests on local', wants: 'local', assigned: 'local', steps: ['adopt local', 'report -'] },
  { why: 'clears the record and leaves', wants: 'local', assigned: 'web@1=A', active: 'web@1=A', steps: ['assign local', 'report -', 'exit local'] },
  { why: 'clears both records, trust first', wants: 'local', assigned: 'web@1=A', active: 'web@1=A', lkg: 'web@1=A', steps: ['set-last-known-good local', 'assign local', 'report -', 'exit local'] },
  { why: 'writes a missing record down, in place', wants: 'local', assigned: '?', bootError: INTERNAL, steps: ['assign local', 'adopt local', 'report -'] },
  { why: 'goes on to say that the kubelet has no file', wants: 'local', assigned: 'local', bootError: INTERNAL, lacksFile: true, steps: ['adopt local', `report ${INTERNAL}`] },
  // New content
  { why: 'saves, assigns and leaves, in this order', wants: 'web@2=B unsaved', assigned: 'web@1=A', active: 'web@1=A', verdict: 'ok', steps: ['save web@2', 'assign web@2', 'report -', 'exit web@2'] },
  { why: 'assigns where the record is missing', wants: 'web@1=A', assigned: '?', verdict: 'ok', bootError: INTERNAL, steps: ['assign web@1', 'report -', 'exit web@1'] },
  { why: 'sets a damaged record aside before it assigns', wants: 'web@1=A', assigned: '!', verdict: 'ok', steps: ['set-aside assigned', 'assign web@1', 'report -', 'exit web@1'] },
  { why: 'assigns without evaluation with preflight off', wants: 'web@2=B', assigned: 'web@1=A', active: 'web@1=A', verdict: 'off', steps: ['assign web@2', 'report -', 'exit web@2'] },
  { why: 're-keys though the checkpoint is there', wants: 'web@1:other=A', assigned: 'web@1=A', active: 'web@1=A', verdict: 'ok', steps: ['assign web@1:other', 'report -', 'exit web@1:other'] },
  { why: 'returns to what it trusts from something unusable', wants: 'web@1=A', assigned: 'web@2=B', active: 'web@1=A', lkg: 'web@1=A', bootError: VALIDATE, verdict: 'ok', steps: ['assign web@1', 'adopt web@1', 'report -'] },
  // Refused
  { why: 'keeps what it has when preflight refuses, and the evidence', wants: 'web@2=B unsaved', assigned: 'web@1=A', active: 'web@1=A', verdict: 'validate', steps: ['save web@2', 'refuse web@2', `report ${VALIDATE}`] },
  { why: 'says that a refused config did not decode', wants: 'web@2=B', assigned: 'local', verdict: 'load', steps: ['refuse web@2', `report ${LOAD}`] },
  { why: 'refuses for good what is beyond a limit', wants: 'web@2=B', assigned: 'web@1=A', active: 'web@1=A', verdict: 'download', steps: ['refuse web@2', `report ${DOWNLOAD} for good`] },
  { why: 'refuses for good, and saves nothing of, a ConfigMap that is more than a checkpoint', wants: 'beyond', assigned: 'web@1=A', active: 'web@1=A', steps: ['refuse web@2', `report ${DOWNLOAD} for good`] },
  { why: 'evaluates a new value of dkc.dev/allow on the same content', wants: 'web@2=A', assigned: 'web@1=A', active: 'web@1=A', verdict: 'validate', steps: ['refuse web@2', `report ${VALIDATE}`] },
  // Same content
  { why: 'takes a touched label in place', wants: 'web@2=A unsaved', assigned: 'web@1=A', active: 'web@1=A', verdict: 'ok', steps: ['save web@2', 'assign web@2', 'adopt web@2', 'report -'] },
  { why: 'moves trust along with the name', wants: 'web@2=A', assigned: 'web@1=A', active: 'web@1=A', lkg: 'web@1=A', verdict: 'ok', steps: ['assign web@2', 'set-last-known-good web@2', 'adopt web@2', 'report -'] },
  { why: 'does not trust content that is only in trial', wants: 'web@2=A', assigned: 'web@1=A', active: 'web@1=A', lkg: 'old@1=C', verdict: 'ok', steps: ['assign web@2', 'adopt web@2', 'report -'] },
  { why: 'finishes a move of trust that a crash cut short', wants: 'web@2=A', assigned: 'web@2=A', active: 'web@2=A', lkg: 'web@1=A', steps: ['set-last-known-good web@2', 'adopt web@2', 'report -'] },
  { why: 'forgets a refusal when the fixed config is accepted', wants: 'web@3=C', assigned: 'web@1=A', active: 'web@1=A', verdict: 'ok', refused: 'web@2', steps: ['assign web@3', 'report -', 'clear-refusal', 'exit web@3'] },
  { why: 'forgets a refusal when nothing is assigned any more', wants: 'local', assigned: 'local', refused: 'web@2', steps: ['adopt local', 'report -', 'clear-refusal'] },
  { why: 'keeps a refusal while its ConfigMap cannot be had', wants: 'failed', assigned: 'web@1=A', active: 'web@1=A', refused: 'web@2', steps: [`report ${DOWNLOAD}`] },
  // Condemned
  { why: 'does not take condemned content back under a new name', wants: 'web@3=B unsaved', assigned: 'web@2=B', active: 'web@1=A', lkg: 'web@1=A', bootError: TRIAL, condemned: 'B agent', verdict: 'ok', steps: ['save web@3', `report ${TRIAL}`] },
  { why: 'says so too where boot had nothing to say', wants: 'web@2=B', assigned: 'web@1=A', active: 'web@1=A', condemned: 'B admin', verdict: 'ok', steps: [`report ${ROLLED_BACK}`] },
  { why: 'takes it back for a new value of dkc.dev/retry', wants: 'web@3=B retry=1', assigned: 'web@2=B', active: 'web@1=A', lkg: 'web@1=A', bootError: TRIAL, condemned: 'B agent', verdict: 'ok', steps: ['clear-condemned web@3', 'assign web@3', 'report -', 'exit web@3'] },
  { why: 'does not take it back twice for the same value', wants: 'web@3=B retry=1', assigned: 'web@2=B', active: 'web@1=A', bootError: TRIAL, condemned: 'B agent 1', verdict: 'ok', steps: [`report ${TRIAL}`] },
  { why: 'does not mind that the same bytes are condemned under another key', wants: 'web@2:other=B', assigned: 'web@2=B', active: 'web@1=A', bootError: TRIAL, condemned: 'B agent', verdict: 'ok', steps: ['assign web@2:other', 'report -', 'exit web@2:other'] },
  // Fallen back
  { why: 'does not chase boot: a config that boot could not use stays reported', wants: 'web@2=B', assigned: 'web@2=B', active: 'web@1=A', lkg: 'web@1=A', bootError: VALIDATE, steps: [`report ${VALIDATE}`] },
  { why: 'tries again when the torn checkpoint is whole again', wants: 'web@2=B unsaved', assigned: 'web@2=B', active: 'web@1=A', lkg: 'web@1=A', bootError: LOAD, steps: ['save web@2', 'report -', 'exit web@2'] },
  { why: 'tries again when an admin has taken the condemnation back', wants: 'web@2=B', assigned: 'web@2=B', active: 'web@1=A', lkg: 'web@1=A', bootError: TRIAL, steps: ['report -', 'exit web@2'] },
  { why: 'leaves for a record that it wrote and then failed to leave for', wants: 'web@2=B', assigned: 'web@2=B', tried: 'web@1=A', active: 'web@1=A', steps: ['report -', 'exit web@2'] },
  { why: 'mends a checkpoint that is in use without leaving', wants: 'web@1=A unsaved', assigned: 'web@1=A', active: 'web@1=A', steps: ['save web@1', 'adopt web@1', 'report -'] },
  { why: 'goes on to say that the last known good was damaged', wants: 'web@1=A', assigned: 'web@1=A', active: 'web@1=A', lkg: '?', bootError: INTERNAL, steps: ['adopt web@1', `report ${INTERNAL}`] },
  // After a restore of etcd: another content under a name that is known
  { why: 'leaves what runs under another content of the same name', wants: 'web@1=B clashes', assigned: 'web@1=A', active: 'web@1=A', lkg: 'web@1=A', steps: [`report ${SYNC_INTERNAL}`] },
  { why: 'replaces one that nobody names', wants: 'web@2=B clashes', assigned: 'web@1=A', active: 'web@1=A', verdict: 'ok', steps: ['save web@2', 'assign web@2', 'report -', 'exit web@2'] },
  // Not to be had
  { why: 'keeps everything while the ConfigMap cannot be had', wants: 'failed', assigned: 'web@1=A', active: 'web@1=A', steps: [`report ${DOWNLOAD}`] },
  { why: 'keeps everything for an empty source, which is not local', wants: 'no-source', assigned: 'web@1=A', active: 'web@1=A', steps: [`report ${NO_SOURCE}`] },
  { why: 'keeps everything for a name that breaks the rules', wants: 'invalid', assigned: 'web@1=A', active: 'web@1=A', steps: [`report ${SYNC_INTERNAL}`] },
  { why: 'keeps everything for a namespace it may not read', wants: 'forbidden', assigned: 'web@1=A', active: 'web@1=A', steps: [`report ${DOWNLOAD}`] },
  { why: 'keeps everything for a ConfigMap without uid', wants: 'incomplete', assigned: 'web@1=A', active: 'web@1=A', steps: [`report ${SYNC_INTERNAL}`] },
  { why: 'keeps the error of a damaged last known good when the object is gone', wants: 'absent', assigned: 'web@1=A', active: 'web@1=A', lkg: '?', bootError: INTERNAL, steps: [`report ${INTERNAL}`] },
  { why: 'does nothing before the ConfigMap was looked for', wants: 'unasked', assigned: 'local', steps: [] },
  { why: 'rests on local when no object says anything', wants: 'absent', assigned: 'local', steps: ['adopt local', 'report -'] },
  { why: 'keeps what it has when the object that assigned it is gone', wants: 'absent', assigned: 'web@1=A', active: 'web@1=A', lkg: 'web@1=A', steps: ['report -'] },
  { why: 'keeps a fall back, and its reason, when the object is gone', wants: 'absent', assigned: 'web@2=B', active: 'web@1=A', lkg: 'web@1=A', bootError: TRIAL, steps: [`report ${TRIAL}`] },
];

for (const row of rows) test(`sync ${row.why}`, () => assert.deepEqual(planSync(factsOf(row)).map(stepText), row.steps));

test('whatever the facts, saved comes before assigned and exit comes last', () => {
  for (const row of rows) {
    const steps = planSync(factsOf(row)).map(({ do: what }) => what);
    const at = (what: SyncStep['do']): number => steps.indexOf(what);
    if (at('save') >= 0) assert.equal(at('save'), 0, row.why);
    if (at('exit') >= 0) assert.equal(at('exit'), steps.length - 1, row.why);
    assert.ok(!(at('exit') >= 0 && at('adopt') >= 0), `${row.why}: either the file changes or it stays`);
    assert.ok(!(at('refuse') >= 0 && at('assign') >= 0), `${row.why}: what is refused is not assigned`);
  }
});

test('a refusal is known by content, fields and rules: not by its resourceVersion, never by a value', () => {
  const findings = [
    { field: 'maxPods', rule: 'range', message: 'must not be negative' },
    { field: '', rule: 'yaml', message: 'line 3' },
  ];
  const error = VALIDATE;
  const detail = refusalDetail({ do: 'refuse', source: source('web@2'), content: content('B'), error, findings });
  assert.equal(detail, `content ${content('B').contentSha256.slice(0, 12)}: maxPods(range), document(yaml)`);
  assert.equal(refusalDetail({ do: 'refuse', source: source('web@3'), content: content('B'), error, findings }), detail);
});

function factsOf(row: Row): SyncFacts {
  const [first = '', ...notes] = row.wants.split(' ');
  const wants = named(first);
  const retry = notes.find((note) => note.startsWith('retry='))?.slice('retry='.length);
  const annotations: Record<string, string> = retry === undefined ? {} : { 'dkc.dev/retry': retry };
  const [assigned, active, lkg] = [row.assigned, row.active ?? 'local', row.lkg ?? 'local'].map(named);
  const tried = row.tried === undefined ? assigned : named(row.tried);
  const [what = '', by = 'agent', under = ''] = (row.condemned ?? '').split(' ');
  const fetched: Partial<Record<string, SyncFacts['fetched']>> = {
    failed: { at: 'failed', problem: 'no route' },
    incomplete: { at: 'incomplete', problem: 'no uid' },
    beyond: { at: 'beyond', uid: 'u-web', resourceVersion: '2', finding: { field: '', rule: 'too-many-keys', message: 'many' } },
  };
  const found =
    wants?.source && wants.content
      ? ({ at: 'found', payload: payload(wants.source, { kubelet: 'x' }, annotations), content: wants.content, ...foundOf(notes) } as const) // prettier-ignore
      : fetched[first];
  return {
    wanted: wantedOf(first),
    ...(found ? { fetched: found } : {}),
    assigned: '?!'.includes(row.assigned) ? undefined : (assigned?.source ?? null),
    damaged: row.assigned === '!' ? ['assigned'] : [],
    ...(assigned?.content ? { assignedContent: assigned.content } : {}),
    bootAssigned: tried?.source ?? null,
    lastKnownGood: row.lkg === '?' ? undefined : (lkg?.source ?? null),
    lacksFile: row.lacksFile ?? false,
    ...(lkg?.content ? { lastKnownGoodContent: lkg.content } : {}),
    active: active?.source ?? null,
    ...(active?.content ? { activeContent: active.content } : {}),
    bootError: row.bootError ?? null,
    condemned: row.condemned === undefined ? [] : [condemned(content(what), { by: by === 'admin' ? 'admin' : 'agent', retry: under })],
    verdict: verdictOf(row.verdict),
    ...(row.refused === undefined ? {} : { refused: refusal(row.refused) }),
  };
}

function foundOf(notes: readonly string[]): { saved: boolean; clashes?: true } {
  return notes.includes('clashes') ? { saved: false, clashes: true } : { saved: !notes.includes('unsaved') };
}

function refusal(text: string): RefusedRecord {
  return refusedRecord({ source: source(text), ...content('R'), at: '', error: VALIDATE }, []);
}

function named(text: string): { source: MaybeSource; content?: ContentRef } | undefined {
  const [name = '', what] = text.split('=');
  if (what === undefined) return { source: null };
  const from = source(name);
  return { source: from, content: content(what, from.kubeletConfigKey) };
}

function wantedOf(text: string): Wanted {
  if (text === 'local' || text === 'absent' || text === 'no-source') return { at: text };
  if (text === 'invalid' || text === 'forbidden') return { at: text, problem: 'a problem' };
  const { namespace, name, kubeletConfigKey } = source(text.includes('@') ? (text.split('=')[0] ?? '') : 'web@1');
  return { at: 'source', spec: { namespace, name, kubeletConfigKey } };
}

function verdictOf(text: Row['verdict']): Verdict {
  if (text === undefined || text === 'off') return null;
  if (text === 'ok') return { ok: true };
  return { ok: false, stage: text, findings: [{ field: 'maxPods', rule: 'range', message: 'must not be negative' }] };
}

function stepText(step: SyncStep): string {
  const name = (of: MaybeSource): string => (of ? `${of.name}@${of.resourceVersion}${of.kubeletConfigKey === 'kubelet' ? '' : `:${of.kubeletConfigKey}`}` : 'local'); // prettier-ignore
  switch (step.do) {
    case 'save':
      return `save ${step.payload.name}@${step.payload.resourceVersion}`;
    case 'clear-condemned':
    case 'adopt':
    case 'refuse':
      return `${step.do} ${name(step.source)}`;
    case 'clear-refusal':
      return step.do;
    case 'set-aside':
      return `set-aside ${step.record}`;
    case 'report':
      return `report ${step.error ?? '-'}${step.final === true ? ' for good' : ''}`;
    case 'set-last-known-good':
    case 'assign':
    case 'exit':
      return `${step.do} ${name(step.to)}`;
  }
}
