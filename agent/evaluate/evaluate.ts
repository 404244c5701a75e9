import {
  applyDefaults,
  applyFlags,
  cappedFindings,
  decode,
  dropInWarnings,
  gatesOnCommandLine,
  checkingPolicy,
  LIMIT_RULES,
  MAX_BYTES,
  mergeOverlay,
  defaultSocket,
  portsOfKubelet,
  socketPaths,
  preflightFatal,
  renderYamlWithin,
  resolvePaths,
  validate,
  valueAt,
  warnOfGates,
  withDropIns,
  type DropIns,
  type Policy,
  type PolicyQuestion,
  type Shadowed,
} from '../config/config.ts';
import type { Finding, HostFacts, JsonObject, KubeletFacts } from '../config/contract.ts';
import type { SignatureCheck } from '../config/signature/check.ts';
import { minimalConfig, type LocalConfig } from './local.ts';
import { atOnce, type InTurns } from '../../base/waiting.ts';

/** The stage at which a configuration fails; it decides which of upstream's error strings the Node shows. */
export type Stage = 'download' | 'load' | 'validate' | 'internal';

export type Evaluation =
  | { ok: true; effective: Uint8Array; warnings: readonly Finding[]; /** Where signatures are asked for. */ signedBy?: string }
  | { ok: false; stage: Stage; findings: readonly Finding[] };

export interface EvaluatedConfig {
  /** The files of the payload. Relative paths in the config name sibling keys in `dir`, the absolute path of the checkpoint. */
  files: ReadonlyMap<string, Uint8Array>;
  kubeletConfigKey: string;
  dir: string;
  annotations: Readonly<Record<string, string>>;
  /** `NAMESPACE/NAME`, for messages. */
  configMap?: string;
}

export interface NodeInputs {
  local: LocalConfig;
  /** The effective file on disk: the policy compares with it where there is no local config. */
  current: Uint8Array | undefined;
  kubelet: KubeletFacts;
  /** Drop-ins that the kubelet merges into its file; absent where it has no --config-dir. */
  dropIns?: DropIns;
  merge: 'replace' | 'overlay';
  policy: Policy | 'none';
  /** Whether the policy's signatureKeys signed a payload; absent where the policy has none. */
  signatureCheck?: SignatureCheck;
  /** Given in preflight only: then conditions that would crash this kubelet on this host are errors too. At boot the trial finds them. */
  host?: HostFacts;
}

/** A text of up to this many bytes is always within the limits of the reader. */
const ALWAYS_READ = 4000;

export const ALLOW_ANNOTATION = 'dkc.dev/allow';

/**
 * Whether this payload is usable on this node, and the effective file: signature -> decode -> resolve paths -> overlay -> drop-ins -> policy -> flags
 * -> validate -> fatal conditions (preflight only) -> render. Findings have paths and rules, never values.
 */
export function evaluate(config: EvaluatedConfig, inputs: NodeInputs): Evaluation {
  const read = atOnce(prepare(config, inputs));
  return read.ok ? atOnce(evaluating(read, config, inputs)) : read;
}

/** The second part of {@link evaluate}, after {@link prepare}. */
export function* evaluating({ merged, defaulted, ...read }: Readable, config: EvaluatedConfig, inputs: NodeInputs): InTurns<Evaluation> {
  const policy = yield* checkingPolicy(policyQuestion(merged, inputs, config.annotations[ALLOW_ANNOTATION]));
  // A kubelet that cannot read a drop-in does not start at all: preflight rejects new configs until that is fixed, boot keeps the current config.
  const [refusing, warning] = inputs.host ? [inputs.dropIns?.problems ?? [], []] : [[], inputs.dropIns?.problems ?? []];
  yield;
  const rules = validate(defaulted, validationInputs(inputs));
  const gates = warnOfGates(defaulted, validationInputs(inputs));
  yield;
  const fatal = inputs.host ? preflightFatal(defaulted, inputs.host, inputs.kubelet) : { errors: [], warnings: [] };
  const refused = cappedFindings(policy, rules, refusing, fatal.errors);
  if (refused.length > 0) return { ok: false, stage: 'validate', findings: refused };
  yield;
  const text = renderYamlWithin(merged, MAX_BYTES);
  if (text === undefined) return tooLargeRendered();
  const effective = new TextEncoder().encode(text);
  yield;
  // The next boot must be able to read the file: a long text may be rendered in a style that the reader accepts for short texts only.
  if (effective.length > ALWAYS_READ && !decode(effective, inputs.kubelet.version).ok) return tooLargeRendered();
  const warnings = cappedFindings(read.warnings, gates, warning, fatal.warnings);
  return { ok: true, effective, warnings, ...(read.signedBy === undefined ? {} : { signedBy: read.signedBy }) };
}

export type Readable = { ok: true; merged: JsonObject; defaulted: JsonObject; warnings: readonly Finding[]; signedBy?: string };

/** The first part of {@link evaluate}: everything before policy and validation. */
export function* prepare(config: EvaluatedConfig, inputs: NodeInputs): InTurns<Readable | Extract<Evaluation, { ok: false }>> {
  const { kubelet, local } = inputs;
  // First of all: an unsigned config is not even parsed.
  const signed = inputs.signatureCheck?.({ ...config, allow: config.annotations[ALLOW_ANNOTATION] }, config.configMap);
  if (signed?.ok === false) return { ok: false, stage: 'load', findings: [signed.finding] };
  const bytes = config.files.get(config.kubeletConfigKey);
  if (bytes === undefined) return loadFailure('kubelet-config-key', `the ConfigMap has no key ${JSON.stringify(config.kubeletConfigKey)}`);
  if (bytes.length === 0) return loadFailure('empty', 'kubelet config file was empty');
  const decoded = decode(bytes, kubelet.version);
  if (!decoded.ok) {
    const beyond = decoded.errors.some(({ rule }) => LIMIT_RULES.has(rule));
    return { ok: false, stage: beyond ? 'download' : 'load', findings: decoded.errors };
  }
  yield;

  const dynamic = resolvePaths(decoded.written, config.dir, kubelet.version);
  if (inputs.merge === 'overlay' && local.at === 'broken')
    return loadFailure('local-config', 'the local config to merge it into cannot be read');
  const merged = inputs.merge === 'overlay' && local.at === 'present' ? mergeOverlay(local.resolved, dynamic) : dynamic;

  const used = withDropIns(merged, inputs.dropIns, kubelet);
  const flagged = applyFlags(used, kubelet.args, kubelet.version);
  if (flagged.problems.length > 0) return { ok: false, stage: 'internal', findings: flagged.problems };
  const dropped = dropInWarnings(merged, inputs.dropIns, kubelet);
  const warnings = [...decoded.warnings, ...dropped, ...shadowWarnings(flagged.shadowed, merged)];
  const defaulted = applyDefaults(flagged.merged, kubelet.version);
  return { ok: true, merged, defaulted, warnings, ...(signed ? { signedBy: signed.signer.name } : {}) };
}

function loadFailure(rule: string, message: string): Extract<Evaluation, { ok: false }> {
  return { ok: false, stage: 'load', findings: [{ field: '', rule, message }] };
}

function tooLargeRendered(): Evaluation {
  const message =
    'the effective file rendered from it would be too large to be read back: rendering expands aliases, quotes strings and indents lines';
  return { ok: false, stage: 'download', findings: [{ field: '', rule: 'too-large', message }] };
}

/**
 * What the policy is asked about a config on this node. Drop-ins apply to both sides, since the kubelet merges them over whichever file it reads.
 * @param merged - the config that would become effective, as written, before drop-ins
 */
export function policyQuestion(merged: JsonObject, inputs: NodeInputs, allowAnnotation?: string): PolicyQuestion {
  const { kubelet, dropIns, policy, merge } = inputs;
  return {
    local: withDropIns(comparedWith(inputs), dropIns, kubelet),
    dynamic: withDropIns(merged, dropIns, kubelet),
    version: kubelet.version,
    policy,
    merge,
    allowAnnotation,
  };
}

/** The config with which the policy compares: the local config, else the effective file, else all defaults. */
function comparedWith({ local, current, kubelet }: NodeInputs): JsonObject {
  if (local.at === 'present') return local.resolved;
  const decoded = current === undefined ? undefined : decode(current, kubelet.version);
  return decoded?.ok ? decoded.written : minimalConfig;
}

/** Ports and sockets of the running kubelet, by the effective file, or by the local config where there is none. */
export function runningKubelet({ current, local, kubelet, dropIns }: Pick<NodeInputs, 'current' | 'local' | 'kubelet' | 'dropIns'>): {
  ports: number[];
  sockets: string[];
} {
  const decoded = current === undefined ? undefined : decode(current, kubelet.version);
  const file = decoded?.ok ? decoded.written : local.at === 'present' ? local.resolved : minimalConfig;
  const running = withDropIns(file, dropIns, kubelet);
  const defaulted = applyDefaults(applyFlags(running, kubelet.args, kubelet.version).merged, kubelet.version);
  return {
    ports: portsOfKubelet(defaulted, kubelet),
    sockets: [...socketPaths(defaulted), defaultSocket(defaulted)].filter((path) => path !== undefined),
  };
}

/** What `validate` needs about this node's kubelet. */
export function validationInputs({ kubelet }: Pick<NodeInputs, 'kubelet'>): Parameters<typeof validate>[1] {
  const { version, args, knownGates } = kubelet;
  return { version, flags: gatesOnCommandLine(args, version), ...(knownGates ? { knownGates } : {}) };
}

/** Warnings for fields that `config` sets without effect, since a flag overrides them. */
export function shadowWarnings(shadowed: readonly Shadowed[], config: JsonObject): Finding[] {
  return shadowed
    .filter(({ field }) => valueAt(config, field.split('.')) !== undefined)
    .map(({ field, flag }) => ({
      field,
      rule: 'flag',
      message: `${field} has no effect: the kubelet is started with ${flag}, and flags win`,
    }));
}
