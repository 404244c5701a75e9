import { dirname } from 'node:path';
import {
  applyDefaults,
  applyFlags,
  cappedFindings,
  decode,
  judgePolicy,
  mergeOverlay,
  pathsToProbe,
  POD_RULES,
  preflightFatal,
  resolvePaths,
  validateAll,
} from '../../agent/config/config.ts';
import { loadJudgeInputs } from '../../agent/judge/inputs.ts';
import { against, shadowWarnings } from '../../agent/judge/judge.ts';
import { readHost } from '../../agent/host/host.ts';
import { ActionError } from '../../base/errors.ts';
import { silentLog } from '../../base/log.ts';
import type { Finding, JsonObject, KubeletFacts } from '../../agent/config/contract.ts';
import type { AgentOptions } from '../../agent/options.ts';
import { withHint } from './hints.ts';
import { locator } from './locate.ts';
import type { Context } from '../command.ts';

export interface FileJudgement {
  errors: readonly Finding[];
  warnings: readonly Finding[];
}

export interface FileToJudge {
  bytes: Uint8Array;
  /** Where relative paths in it start. */
  dir: string;
  options: AgentOptions;
  kubelet: KubeletFacts;
  /** Compare with the local config by policy; only where the admin named that file. */
  withPolicy: boolean;
  /** What the file itself is warned of is an error. */
  strict: boolean;
}

/**
 * What `dkc validate` finds: everything at once, also what is wrong beside an error that the agent would stop at. What depends on this
 * machine is a warning: the file may be for another one.
 */
export async function judgeFile(context: Context, file: FileToJudge): Promise<FileJudgement> {
  const { bytes, dir, options, kubelet, withPolicy, strict } = file;
  const decoded = decode(bytes, kubelet.version);
  const read = decoded.ok ? decoded : decoded.rest;
  const broken = decoded.ok ? [] : decoded.errors;
  if (read === undefined) return shown(bytes, kubelet, broken, []);
  const resolved = resolvePaths(read.written, dir, kubelet.version);
  const { written, policy } = withPolicy ? await besideLocal(context, resolved, options, kubelet) : { written: resolved, policy: [] };
  const flagged = applyFlags(written, kubelet.args, kubelet.version);
  const defaulted = applyDefaults(flagged.merged, kubelet.version);
  const rules = validateAll(defaulted, against({ kubelet }));
  // What kills a kubelet on any host is an error; what only this host adds is not.
  const everywhere = preflightFatal(defaulted, {}, kubelet);
  const here = preflightFatal(defaulted, await readHost(context.disk, pathsToProbe(defaulted), kubelet), kubelet);
  const shadowed = shadowWarnings(flagged.shadowed, written);
  const errors = cappedFindings(unique([...broken, ...flagged.problems, ...policy, ...rules, ...everywhere.errors]));
  const known = new Set(errors.map(keyOf));
  const onlyHere = here.errors
    .filter((finding) => !known.has(keyOf(finding)))
    .map((finding) => onThisMachine(finding, 'an error on such a node'));
  const pods = here.warnings.filter(({ rule }) => POD_RULES.has(rule));
  const others = here.warnings.filter(({ rule }) => !POD_RULES.has(rule)).map((finding) => onThisMachine(finding));
  const ofFile = [...read.warnings, ...pods];
  return strict
    ? shown(bytes, kubelet, cappedFindings(errors, ofFile), unique([...shadowed, ...others, ...onlyHere]))
    : shown(bytes, kubelet, errors, unique([...ofFile, ...shadowed, ...others, ...onlyHere]));
}

/** With lines, and names that were probably meant. */
function shown(bytes: Uint8Array, { version }: KubeletFacts, errors: readonly Finding[], warnings: readonly Finding[]): FileJudgement {
  const lineOf = locator(bytes);
  const one = (finding: Finding): Finding => {
    const line = finding.line ?? (finding.field === '' ? undefined : lineOf(finding.field));
    return { ...withHint(finding, version), ...(line === undefined ? {} : { line }) };
  };
  return { errors: errors.map(one), warnings: cappedFindings(warnings).map(one) };
}

/** The agent speaks of its node; here it is the machine that somebody validates on. */
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
  const { inputs, policyProblem } = await loadJudgeInputs(options, kubelet, context.disk, silentLog);
  const { local, policy, merge } = inputs;
  if (local.at !== 'present')
    throw new ActionError('compare with', options.localConfig, {
      hint: local.at === 'missing' ? 'no such file' : `${local.problem}; fix it`,
    });
  if (policyProblem !== undefined)
    throw new ActionError('use the policy', policyProblem, { hint: 'fix it, or validate without a policy: --policy=none' });
  const written = merge === 'overlay' ? mergeOverlay(local.resolved, dynamic) : dynamic;
  const { version } = kubelet;
  return {
    written,
    policy: judgePolicy({ local: local.resolved, dynamic: written, version, policy, merge }),
  };
}

export const directoryOf = (context: Context, name: string): string => (name === '-' ? context.path('.') : dirname(context.path(name)));

const keyOf = ({ field, rule, message }: Finding): string => JSON.stringify([field, rule, message]);

function unique(findings: readonly Finding[]): readonly Finding[] {
  return [...new Map(findings.map((finding) => [keyOf(finding), finding])).values()];
}
