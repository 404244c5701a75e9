import { setImmediate } from 'node:timers/promises';
import { pathsToProbe } from '../config/config.ts';
import type { KubeletFacts } from '../config/contract.ts';
import { readHost } from '../host/host.ts';
import { loadNodeInputs } from '../evaluate/node-inputs.ts';
import { evaluating, prepare, runningKubelet } from '../evaluate/evaluate.ts';
import { sourceText, type Source } from '../checkpoint/source.ts';
import type { AgentOptions } from '../options.ts';
import { layout } from '../store/layout.ts';
import type { Fetched, Verdict } from './plan.ts';
import type { Disk } from '../../base/disk.ts';
import type { Log } from '../../base/log.ts';
import type { InTurns } from '../../base/waiting.ts';

export interface PreflightDeps {
  options: Pick<AgentOptions, 'dynamicConfigDir' | 'localConfig' | 'effectiveConfig' | 'merge' | 'policy'>;
  disk: Disk;
  log: Log;
  /** The current facts about the kubelet, with flags and gates from its `--help`. */
  kubelet: () => Promise<KubeletFacts>;
}

/** Up to this many bytes are evaluated in one turn of the event loop: less than 100 ms before the JIT optimizes. Real configurations have 2 KiB. */
const ONE_TURN = 16 * 1024;
/** Private directories of the agent's unit (PrivateTmp=): the agent does not see the kubelet's files there. */
const PRIVATE = ['/tmp/', '/var/tmp/'];

/** Decodes, applies the policy, validates, and finds what would crash this kubelet on this host, before anything restarts. */
export function preflighter({
  options,
  disk,
  log,
  kubelet,
}: PreflightDeps): (source: Source, fetched: Extract<Fetched, { at: 'found' }>) => Promise<Verdict> {
  return async (source, { payload }) => {
    const facts = await kubelet();
    const { inputs, policyProblem } = await loadNodeInputs(options, facts, disk, log);
    if (policyProblem !== undefined) {
      return {
        ok: false,
        stage: 'validate',
        findings: [
          {
            field: '',
            rule: 'policy-file',
            message: 'the policy file of this node cannot be used, so new configs are rejected until it is fixed',
          },
        ],
      };
    }
    const dir = layout(options.dynamicConfigDir).checkpoint(source);
    const config = {
      files: payload.files,
      annotations: payload.annotations,
      kubeletConfigKey: source.kubeletConfigKey,
      dir,
      configMap: `${source.namespace}/${source.name}`,
    };
    const pause = (payload.files.get(source.kubeletConfigKey)?.length ?? 0) > ONE_TURN ? setImmediate : undefined;
    const read = await paced(prepare(config, inputs), pause);
    if (!read.ok) return read;
    const host = await readHost(disk, read.defaulted, { args: facts.args, hidden: PRIVATE, except: dir, running: runningKubelet(inputs) });
    // The checkpoint may not be on disk yet: paths into its directory are looked up among the files of the ConfigMap.
    const siblings = pathsToProbe(read.defaulted).filter((path) => path.startsWith(`${dir}/`));
    const inside = siblings.map((path) => [path, payload.files.has(path.slice(dir.length + 1)) ? 'file' : 'missing'] as const);
    const seen = { ...host, paths: { ...host.paths, ...Object.fromEntries(inside) } };
    const evaluation = await paced(evaluating(read, config, { ...inputs, host: seen }), pause);
    if (!evaluation.ok) return evaluation;
    for (const { field, message } of evaluation.warnings)
      log.warn('config is accepted, but', { source: sourceText(source), field, message });
    return evaluation.signedBy === undefined ? { ok: true } : { ok: true, signedBy: evaluation.signedBy };
  };
}

/** Yields to the event loop between the steps of a large configuration, so that health checks and watches are not delayed. */
async function paced<T>(work: InTurns<T>, pause: (() => Promise<unknown>) | undefined): Promise<T> {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
    if (pause) await pause();
  }
}
