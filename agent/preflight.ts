import { applyDefaults, decode, pathsToProbe } from './config/config.ts';
import type { KubeletFacts } from './config/contract.ts';
import { readHost } from './host/host.ts';
import { gatherBench } from './judge/bench.ts';
import { judge } from './judge/judge.ts';
import { sourceText, type Source } from './checkpoint/source.ts';
import type { AgentOptions } from './options.ts';
import { layout } from './store/layout.ts';
import type { Fetched, Verdict } from './sync/plan.ts';
import type { Disk } from '../base/disk.ts';
import type { Log } from '../base/log.ts';

export interface PreflightDeps {
  options: Pick<AgentOptions, 'dynamicConfigDir' | 'localConfig' | 'effectiveConfig' | 'merge' | 'policy'>;
  disk: Disk;
  log: Log;
  /** Everything known of the kubelet now, its `--help` included. */
  kubelet: () => Promise<KubeletFacts>;
}

/** Decode, policy, validate and what would kill this kubelet on this host, before anything restarts (design Q9). */
export function preflighter({
  options,
  disk,
  log,
  kubelet,
}: PreflightDeps): (source: Source, fetched: Extract<Fetched, { at: 'found' }>) => Promise<Verdict> {
  return async (source, { payload }) => {
    const facts = await kubelet();
    const { bench, policyProblem } = await gatherBench(options, facts, disk, log);
    if (policyProblem !== undefined) {
      return {
        ok: false,
        stage: 'validate',
        findings: [{ field: '', rule: 'policy-file', message: 'the policy file of this node cannot be used, so nothing new is let in' }],
      };
    }
    const dir = layout(options.dynamicConfigDir).checkpoint(source);
    const config = { files: payload.files, annotations: payload.annotations, kubeletConfigKey: source.kubeletConfigKey, dir };
    const bytes = payload.files.get(source.kubeletConfigKey);
    const decoded = bytes ? decode(bytes, facts.version) : undefined;
    const probe = decoded?.ok ? pathsToProbe(applyDefaults(decoded.written, facts.version)) : [];
    const judgement = judge(config, { ...bench, host: await readHost(disk, probe) });
    if (!judgement.ok) return judgement;
    for (const { field, message } of judgement.warnings)
      log.warn('config is accepted, but', { source: sourceText(source), field, message });
    return { ok: true };
  };
}
