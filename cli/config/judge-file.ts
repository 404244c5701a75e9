import { dirname } from 'node:path';
import {
  applyDefaults,
  applyFlags,
  decode,
  judgePolicy,
  mergeOverlay,
  pathsToProbe,
  preflightFatal,
  resolvePaths,
  validate,
} from '../../agent/config/config.ts';
import { gatherBench } from '../../agent/judge/bench.ts';
import { against, shadowWarnings } from '../../agent/judge/judge.ts';
import { readHost } from '../../agent/host/host.ts';
import { ActionError } from '../../base/errors.ts';
import { silentLog } from '../../base/log.ts';
import type { Finding, JsonObject, KubeletFacts } from '../../agent/config/contract.ts';
import type { AgentOptions } from '../../agent/options.ts';
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
}

/** What `dkc validate` finds, in the agent's order. What depends on this machine is a warning: the file may be for another one. */
export async function judgeFile(context: Context, { bytes, dir, options, kubelet, withPolicy }: FileToJudge): Promise<FileJudgement> {
  const decoded = decode(bytes, kubelet.version);
  if (!decoded.ok) return { errors: decoded.errors, warnings: [] };
  const resolved = resolvePaths(decoded.written, dir, kubelet.version);
  const { written, policy } = withPolicy ? await besideLocal(context, resolved, options, kubelet) : { written: resolved, policy: [] };
  const flagged = applyFlags(written, kubelet.args, kubelet.version);
  const defaulted = applyDefaults(flagged.merged, kubelet.version);
  const rules = validate(defaulted, against({ kubelet }));
  // What kills a kubelet on any host is an error; what only this host adds is not.
  const everywhere = preflightFatal(defaulted, {}, kubelet);
  const here = preflightFatal(defaulted, await readHost(context.disk, pathsToProbe(defaulted), kubelet), kubelet);
  const shadowed = shadowWarnings(flagged.shadowed, written);
  const errors = unique([...flagged.problems, ...policy, ...rules, ...everywhere.errors]);
  const onlyHere = here.errors.filter((finding) => !errors.some((error) => same(error, finding)));
  return {
    errors,
    warnings: unique([...decoded.warnings, ...shadowed, ...here.warnings, ...onlyHere]),
  };
}

/** @throws ActionError when the local config or the policy cannot be used: the admin asked for them */
async function besideLocal(
  context: Context,
  dynamic: JsonObject,
  options: AgentOptions,
  kubelet: KubeletFacts,
): Promise<{ written: JsonObject; policy: readonly Finding[] }> {
  const { bench, policyProblem } = await gatherBench(options, kubelet, context.disk, silentLog);
  const { local, policy, merge } = bench;
  if (local.at !== 'present')
    throw new ActionError('compare with', options.localConfig, {
      hint: local.at === 'missing' ? 'there is no such file' : `${local.problem}; mend it`,
    });
  if (policyProblem !== undefined)
    throw new ActionError('use the policy', policyProblem, { hint: 'mend it, or judge without one by --policy=none' });
  const written = merge === 'overlay' ? mergeOverlay(local.resolved, dynamic) : dynamic;
  const { version } = kubelet;
  return {
    written,
    policy: judgePolicy({ local: local.resolved, dynamic: written, version, policy, merge }),
  };
}

export const directoryOf = (context: Context, name: string): string => (name === '-' ? context.path('.') : dirname(context.path(name)));

const same = (a: Finding, b: Finding): boolean => a.field === b.field && a.rule === b.rule && a.message === b.message;

function unique(findings: readonly Finding[]): readonly Finding[] {
  return findings.filter((finding, at) => findings.findIndex((other) => same(other, finding)) === at);
}
