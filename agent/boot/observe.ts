import type { BootFacts, Candidate, LocalCandidate } from './plan.ts';
import type { KubeletFacts } from '../config/contract.ts';
import type { AgentOptions } from '../options.ts';
import { localProblem } from '../evaluate/local.ts';
import { VolatileFile } from './volatile-file.ts';
import { apiPath, type MaybeSource, type Payload, type Source, sourceText } from '../checkpoint/source.ts';
import { decode } from '../config/config.ts';
import { loadNodeInputs, type Gathered } from '../evaluate/node-inputs.ts';
import { evaluate, type NodeInputs } from '../evaluate/evaluate.ts';
import { effectiveOfLocal, problemText } from '../evaluate/local.ts';
import { parseActiveRecord } from '../store/active-record.ts';
import { contentRef, sameContent, sha256 } from '../checkpoint/payload.ts';
import { layout } from '../store/layout.ts';
import type { CondemnedRecord, MetaName, MetaRecord, Store } from '../store/store.ts';
import type { Clock } from '../../base/clock.ts';
import type { Disk } from '../../base/disk.ts';
import { describeError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';

export interface BootDeps {
  options: Pick<AgentOptions, 'dynamicConfigDir' | 'localConfig' | 'effectiveConfig' | 'merge' | 'policy' | 'kubeletUnit' | 'kubeletExits'>;
  store: Store;
  disk: Disk;
  clock: Clock;
  log: Log;
  kubelet: KubeletFacts;
}

export interface Observed {
  facts: BootFacts;
  assigned: MaybeSource;
  assignedKnown: boolean;
  lastKnownGood: MaybeSource;
  /** What is wrong with the local config, for people; null when it is usable. */
  localProblem: string | null;
  /** Damaged meta files, to be set aside unless reading them failed (`isUnread`). */
  damaged: Extract<MetaRecord, { at: 'damaged' }>[];
  /** The file that the kubelet reads now. */
  current: Uint8Array | undefined;
  /** The effective file at its usual place. */
  onDisk: Uint8Array | undefined;
  /** The replacement in /run that the kubelet reads instead; undefined unless an earlier write to the disk failed. */
  volatileFile: Uint8Array | undefined;
  /** SHA-256 of the effective file that an agent wrote last, or was about to write; empty where active.json names none. */
  written: readonly string[];
}

/** Reads records, checkpoints, local config and effective file. */
export async function observe(deps: BootDeps): Promise<Observed> {
  const { options, store, disk, log, kubelet } = deps;
  const assignedRecord = await readRecord(store, 'assigned', deps);
  const trustedRecord = await readRecord(store, 'last-known-good', deps);
  const condemned = await store.condemned().catch((error: unknown) => {
    log.error('failed to read condemnations', { error });
    return [];
  });
  const usual = await loadNodeInputs(options, kubelet, disk, log);
  const volatileFile = options.kubeletUnit === '' ? undefined : await new VolatileFile(options, disk).read();
  const gathered = volatileFile ? { ...usual, inputs: { ...usual.inputs, current: volatileFile } } : usual;
  const context = { deps, condemned, gathered };
  const assigned = await candidate(assignedRecord, context);
  const lastKnownGood = await candidate(trustedRecord, context);
  const { inputs } = gathered;
  return {
    facts: {
      assigned,
      lastKnownGood,
      local: localCandidate(inputs),
      damagedMeta: assignedRecord.at === 'damaged' || trustedRecord.at === 'damaged',
      current: currentFile(inputs),
      currentIsRefused: await isRefused(assignedRecord, assigned, context),
      handsOver: options.kubeletUnit !== '',
    },
    localProblem: localProblem(options.localConfig, inputs.local, inputs.current !== undefined),
    assigned: known(assignedRecord),
    assignedKnown: assignedRecord.at === 'known',
    lastKnownGood: known(trustedRecord),
    damaged: [assignedRecord, trustedRecord].flatMap((record) => (record.at === 'damaged' ? [record] : [])),
    current: inputs.current,
    onDisk: usual.inputs.current,
    volatileFile,
    written: await lastWritten(deps),
  };
}

async function lastWritten({ options, disk }: BootDeps): Promise<string[]> {
  const read = await disk.read(layout(options.dynamicConfigDir).active).then(
    (bytes) => parseActiveRecord(new TextDecoder().decode(bytes)),
    () => undefined,
  );
  if (read?.ok !== true) return [];
  const { effectiveSha256, next } = read.record;
  // No file was written before, so another program cannot have changed it.
  return effectiveSha256 === '' ? [] : [effectiveSha256, ...(next ? [next.effectiveSha256] : [])];
}

interface CandidateContext {
  deps: BootDeps;
  condemned: readonly CondemnedRecord[];
  gathered: Gathered;
}

async function readRecord(store: Store, name: MetaName, { log }: BootDeps): Promise<MetaRecord> {
  try {
    const record = await store.record(name);
    // Read twice: a transient disk error must not lose the assignment.
    return record.at === 'damaged' ? await store.record(name) : record;
  } catch (error) {
    log.error('record cannot be read', { record: name, error });
    return { at: 'missing' };
  }
}

const known = (record: MetaRecord): MaybeSource => (record.at === 'known' ? record.source : null);

/** `unknown` matters for the assigned record only: the plan treats an unknown last-known-good like none. */
async function candidate(record: MetaRecord, context: CandidateContext): Promise<Candidate> {
  if (record.at !== 'known') return { at: 'unknown' };
  if (record.source === null) return { at: 'none' };
  return loadCandidate(record.source, context);
}

async function loadCandidate(source: Source, context: CandidateContext): Promise<Candidate> {
  const { deps, condemned, gathered } = context;
  const state = await deps.store
    .load(source, source)
    .catch((error: unknown) => ({ at: 'damaged', path: '', problem: describeError(error) }) as const);
  if (state.at !== 'intact') {
    const named = `source ${apiPath(source)}, UID: ${source.uid}, ResourceVersion: ${source.resourceVersion}`;
    const problem = state.at === 'missing' ? `no checkpoint for ${named}` : `its checkpoint is damaged: ${state.path} ${state.problem}`;
    deps.log.error('checkpoint cannot be loaded', { source: sourceText(source), problem });
    return { at: 'unusable', source, stage: 'load', problem };
  }
  const { payload, manifest } = state.checkpoint;
  const content = contentRef(manifest.files, source.kubeletConfigKey);
  const verdict = condemned.find((record) => sameContent(record, content));
  if (verdict) return { at: 'condemned', source, by: verdict.by, reason: verdict.reason };
  const evaluation = evaluateIn(source, payload, gathered.inputs, context);
  if (!evaluation.ok) {
    const problem = problemText(evaluation.findings);
    deps.log.error('config cannot be used', { source: sourceText(source), stage: evaluation.stage, problem });
    const unsigned = withoutSignature(source, payload, context);
    // Boot downloads nothing: a config beyond a size limit is reported as a load failure.
    const stage = evaluation.stage === 'download' ? 'load' : evaluation.stage;
    return { at: 'unusable', source, stage, problem, ...(unsigned ? { unsigned } : {}) };
  }
  for (const { field, message } of evaluation.warnings)
    deps.log.warn('config is usable, but', { source: sourceText(source), field, message });
  const effective = (await earlierRendering(evaluation.effective, source, payload, content.contentSha256, context)) ?? evaluation.effective;
  return { at: 'usable', source, content, effective, ...(evaluation.signedBy === undefined ? {} : { signedBy: evaluation.signedBy }) };
}

/** The effective file of a config whose only fault is a missing signature; undefined where it has other faults, or no signature is required. */
function withoutSignature(source: Source, payload: Payload, context: CandidateContext): Uint8Array | undefined {
  const { signatureCheck, ...inputs } = context.gathered.inputs;
  if (!signatureCheck) return undefined;
  const evaluation = evaluateIn(source, payload, inputs, context);
  return evaluation.ok ? evaluation.effective : undefined;
}

function evaluateIn(
  source: Pick<Source, 'namespace' | 'name' | 'uid' | 'resourceVersion' | 'kubeletConfigKey'>,
  payload: { files: ReadonlyMap<string, Uint8Array>; annotations: Readonly<Record<string, string>> },
  inputs: NodeInputs,
  { deps }: CandidateContext,
) {
  const dir = layout(deps.options.dynamicConfigDir).checkpoint(source);
  const configMap = `${source.namespace}/${source.name}`;
  const { files, annotations } = payload;
  return evaluate({ files, annotations, kubeletConfigKey: source.kubeletConfigKey, dir, configMap }, inputs);
}

/**
 * The same content under a new resourceVersion has its sibling files in another directory. The effective file is kept while it is the rendering
 * of an older checkpoint of this content: otherwise a changed label would restart the kubelet.
 */
async function earlierRendering(
  effective: Uint8Array,
  source: Source,
  payload: Payload,
  contentSha256: string,
  context: CandidateContext,
): Promise<Uint8Array | undefined> {
  const { deps, gathered } = context;
  const { current } = gathered.inputs;
  if (current === undefined || same(current, effective)) return undefined;
  // Signature and policy were checked before.
  const { signatureCheck: _asked, ...inputs } = gathered.inputs;
  const unpoliced = { ...inputs, policy: 'none' } as const;
  // Most configs name no sibling file and render the same in any directory: skip the search through all checkpoints for them.
  const elsewhere = evaluateIn({ ...source, uid: 'elsewhere', resourceVersion: 'elsewhere' }, payload, unpoliced, context);
  if (elsewhere.ok && same(elsewhere.effective, effective)) return undefined;
  for (const { ref, manifest, state } of await deps.store.list().catch(() => [])) {
    if (state !== 'intact' || !manifest || contentRef(manifest.files, source.kubeletConfigKey).contentSha256 !== contentSha256) continue;
    const older = await deps.store.load(ref);
    if (older.at !== 'intact') continue;
    const { files } = older.checkpoint.payload;
    const evaluation = evaluateIn({ ...source, ...ref }, { files, annotations: { ...manifest.annotations } }, unpoliced, context);
    if (evaluation.ok && same(evaluation.effective, current)) return current;
  }
  return undefined;
}

const same = (a: Uint8Array, b: Uint8Array): boolean => sha256(a) === sha256(b);

/** Whether the effective file is the rendering of the condemned assigned config. */
async function isRefused(record: MetaRecord, assigned: Candidate, context: CandidateContext): Promise<boolean> {
  const { current } = context.gathered.inputs;
  if (assigned.at !== 'condemned' || record.at !== 'known' || record.source === null || current === undefined) return false;
  const again = await loadCandidate(record.source, { ...context, condemned: [] });
  return again.at === 'usable' && sha256(again.effective) === sha256(current);
}

function localCandidate({ local }: NodeInputs): LocalCandidate {
  return local.at === 'present' ? { at: 'usable', effective: effectiveOfLocal(local) } : local;
}

function currentFile({ current, kubelet }: NodeInputs): BootFacts['current'] {
  if (current === undefined) return { at: 'missing' };
  return decode(current, kubelet.version).ok ? { at: 'usable', bytes: current } : { at: 'unusable' };
}
