import { gatesOf } from '../../agent/config/gates/gates.ts';
import { type Place, schemaFor } from '../../agent/config/fields/fields.ts';
import { ActionError, nearest } from '../../base/errors.ts';
import { dirname } from 'node:path';
import {
  applyDefaults,
  applyFlags,
  cappedFindings,
  checkPolicy,
  decode,
  dropInWarnings,
  mergeOverlay,
  POD_RULES,
  preflightFatal,
  removedFlags,
  resolvePaths,
  validateAll,
  warnOfGates,
  withDropIns,
} from '../../agent/config/config.ts';
import { loadNodeInputs, readDropIns } from '../../agent/evaluate/node-inputs.ts';
import { validationInputs, policyQuestion, shadowWarnings } from '../../agent/evaluate/evaluate.ts';
import { readHost } from '../../agent/host/host.ts';
import { silentLog } from '../../base/log.ts';
import type { Finding, JsonObject, KubeletFacts, KubeletVersion } from '../../agent/config/contract.ts';
import type { AgentOptions } from '../../agent/options.ts';
import type { Context } from '../command.ts';
import { isMap, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';

export interface FileValidation {
  errors: readonly Finding[];
  warnings: readonly Finding[];
}

interface FileToValidate {
  bytes: Uint8Array;
  /** Base of the relative paths in the file. */
  dir: string;
  options: AgentOptions;
  kubelet: KubeletFacts;
  /** Check the policy against the local config; only if the admin named the local config. */
  withPolicy: boolean;
  /** Warnings about the file itself are errors. */
  strict: boolean;
}

/**
 * What `dkc validate` finds: all errors at once, including those after the first one, where the agent would stop. What depends on this
 * machine is a warning, since the file may be for another machine.
 */
export async function validateFile(context: Context, file: FileToValidate): Promise<FileValidation> {
  const { bytes, dir, options, kubelet, withPolicy, strict } = file;
  const decoded = decode(bytes, kubelet.version);
  const read = decoded.ok ? decoded : decoded.rest;
  const broken = decoded.ok ? [] : decoded.errors;
  if (read === undefined) return shown(bytes, kubelet, broken, []);
  const resolved = resolvePaths(read.written, dir, kubelet.version);
  const { written, policy } = withPolicy ? await besideLocal(context, resolved, options, kubelet) : { written: resolved, policy: [] };
  const dropIns = await readDropIns(context.disk, kubelet);
  const flagged = applyFlags(withDropIns(written, dropIns, kubelet), kubelet.args, kubelet.version);
  const defaulted = applyDefaults(flagged.merged, kubelet.version);
  const rules = validateAll(defaulted, validationInputs({ kubelet }));
  // What makes a kubelet exit on any host is an error; what does so only on this host is a warning.
  const everywhere = preflightFatal(defaulted, {}, kubelet);
  const here = preflightFatal(defaulted, await readHost(context.disk, defaulted, kubelet), kubelet);
  const dropped = [...removedFlags(kubelet), ...(dropIns?.problems ?? []), ...dropInWarnings(written, dropIns, kubelet)].map((one) =>
    onThisMachine(one),
  );
  const shadowed = [...dropped, ...shadowWarnings(flagged.shadowed, written)];
  const errors = cappedFindings(unique([...broken, ...flagged.problems, ...policy, ...rules, ...everywhere.errors]));
  const known = new Set(errors.map(keyOf));
  const onlyHere = here.errors
    .filter((finding) => !known.has(keyOf(finding)))
    .map((finding) => onThisMachine(finding, 'an error on such a node'));
  const pods = here.warnings.filter(({ rule }) => POD_RULES.has(rule));
  const others = here.warnings.filter(({ rule }) => !POD_RULES.has(rule)).map((finding) => onThisMachine(finding));
  const ofFile = [...read.warnings, ...warnOfGates(defaulted, validationInputs({ kubelet })), ...pods];
  return strict
    ? shown(bytes, kubelet, cappedFindings(errors, ofFile), unique([...shadowed, ...others, ...onlyHere]))
    : shown(bytes, kubelet, errors, unique([...ofFile, ...shadowed, ...others, ...onlyHere]));
}

/** Adds line numbers, and suggestions for misspelled names. */
function shown(bytes: Uint8Array, { version }: KubeletFacts, errors: readonly Finding[], warnings: readonly Finding[]): FileValidation {
  const lineOf = locator(bytes);
  const one = (finding: Finding): Finding => {
    const line = finding.line ?? (finding.field === '' ? undefined : lineOf(finding.field));
    return { ...withHint(finding, version), ...(line === undefined ? {} : { line }) };
  };
  return { errors: errors.map(one), warnings: cappedFindings(warnings).map(one) };
}

/** Findings of the agent say "this node"; the command runs on any machine. */
function onThisMachine(finding: Finding, then?: string): Finding {
  const message = finding.message.replaceAll('this node', 'this machine');
  return { ...finding, message: then === undefined ? message : `${message} (${then})` };
}

/** @throws ActionError when the local config or the policy cannot be used: the admin asked for them */
async function besideLocal(
  context: Context,
  dynamic: JsonObject,
  options: AgentOptions,
  kubelet: KubeletFacts,
): Promise<{ written: JsonObject; policy: readonly Finding[] }> {
  const { inputs, policyProblem } = await loadNodeInputs(options, kubelet, context.disk, silentLog);
  const { local, merge } = inputs;
  if (local.at !== 'present')
    throw new ActionError('compare with', options.localConfig, {
      hint: local.at === 'missing' ? 'no such file' : `${local.problem}; fix it`,
    });
  if (policyProblem !== undefined)
    throw new ActionError('use the policy', policyProblem, { hint: 'fix it, or validate without a policy: --policy=none' });
  const written = merge === 'overlay' ? mergeOverlay(local.resolved, dynamic) : dynamic;
  return { written, policy: checkPolicy(policyQuestion(written, inputs)) };
}

export const directoryOf = (context: Context, name: string): string => (name === '-' ? context.path('.') : dirname(context.path(name)));

const keyOf = ({ field, rule, message }: Finding): string => JSON.stringify([field, rule, message]);

function unique(findings: readonly Finding[]): readonly Finding[] {
  return [...new Map(findings.map((finding) => [keyOf(finding), finding])).values()];
}

/** Names up to this length are compared with all known names; a longer one is no misspelling. */
const MAX_NAME = 100;

/** Adds a suggestion to a finding about a field that no kubelet has, or a feature gate that this kubelet does not have. */
function withHint(finding: Finding, version: KubeletVersion): Finding {
  const meant = finding.field.length > MAX_NAME ? undefined : meantBy(finding, version);
  return meant === undefined ? finding : { ...finding, message: `${finding.message}; did you mean ${meant}?` };
}

function meantBy({ field, rule }: Finding, { minor }: KubeletVersion): string | undefined {
  if (rule === 'unknown-gate') return near(field.slice('featureGates.'.length), [...gatesOf(minor).keys()]);
  if (rule !== 'unknown-field') return undefined;
  const dot = field.lastIndexOf('.');
  const [parent, name] = [field.slice(0, Math.max(0, dot)), field.slice(dot + 1)];
  const siblings = membersOf(schemaFor(minor).root, parent);
  return siblings && near(name, [...siblings].filter(([, place]) => isKnown(place)).map(([key]) => key)); // prettier-ignore
}

/** Wrong case is the most common mistake, so names that differ only in case win. */
function near(name: string, names: readonly string[]): string | undefined {
  return names.find((one) => one.toLowerCase() === name.toLowerCase()) ?? nearest(name, names);
}

function membersOf(root: ReadonlyMap<string, Place>, path: string): ReadonlyMap<string, Place> | undefined {
  let members = root;
  for (const step of path === '' ? [] : path.split('.')) {
    const place = members.get(step);
    if (place?.kind !== 'struct') return undefined;
    members = place.members;
  }
  return members;
}

function isKnown(place: Place): boolean {
  return place.kind === 'leaf' ? place.known : place.members.values().some(isKnown);
}

/** No line numbers for longer texts: the library that finds them is slow. In characters. */
const MAX_TEXT = 256 * 1024;

/**
 * Finds the lines of fields in a text, YAML or JSON.
 * @returns a function: the line of a path such as `registerWithTaints[0].key`; of its nearest written parent if the path is not written; undefined
 * if no part of it is. For a duplicate key it is the line of the last one, which wins
 */
function locator(bytes: Uint8Array): (path: string) => number | undefined {
  const text = new TextDecoder().decode(bytes);
  if (text.length > MAX_TEXT) return () => undefined;
  const lines = new LineCounter();
  // Syntax errors are reported by the decoder.
  const { contents } = parseDocument(text, {
    lineCounter: lines,
    schema: 'failsafe',
    uniqueKeys: false,
    logLevel: 'silent',
    prettyErrors: false,
  });
  return (path) => {
    const at = offsetOf(contents, path);
    return at === undefined ? undefined : lines.linePos(at).line;
  };
}

function offsetOf(root: unknown, path: string): number | undefined {
  let [node, rest, at]: [unknown, string, number | undefined] = [root, path, undefined];
  while (rest !== '') {
    if (isMap(node)) {
      const { items } = node;
      const fits = items.filter(({ key }) => isScalar(key) && beginsWith(rest, String(key.value)));
      // A name may contain dots: the longest key that fits wins.
      const found = fits.reduce<(typeof items)[number] | undefined>(
        (best, one) => (best === undefined || nameOf(one).length >= nameOf(best).length ? one : best),
        undefined,
      );
      if (found === undefined || !isScalar(found.key)) return at;
      at = found.key.range?.[0] ?? at;
      rest = rest.slice(nameOf(found).length).replace(/^\./, '');
      node = found.value;
    } else if (isSeq(node)) {
      const [step, index] = /^\[(\d+)\]\.?/.exec(rest) ?? [];
      const item = index === undefined ? undefined : node.items[Number(index)];
      if (step === undefined || item === undefined || item === null) return at;
      at = (item as { range?: [number, number, number] | null }).range?.[0] ?? at;
      rest = rest.slice(step.length);
      node = item;
    } else return at;
  }
  return at;
}

const nameOf = ({ key }: { key: unknown }): string => (isScalar(key) ? String(key.value) : '');

function beginsWith(path: string, name: string): boolean {
  return path.startsWith(name) && ['', '.', '['].includes(path.charAt(name.length));
}
