import { failed, ok, skipped, someOf, the, warning, type Check, type Seen, type Verdict } from '../check.ts';
import { sourceText } from '../../../agent/checkpoint/source.ts';
import type { Candidate } from '../../../agent/boot/plan.ts';
import type { Finding } from '../../../agent/config/contract.ts';
import { problemText } from '../../../agent/evaluate/local.ts';
import type { Problem } from '../../../agent/store/store.ts';

export interface StoreFacts {
  /** `absent`: there is no store; else what is damaged in it, and how many checkpoints it has. */
  store: Seen<{ at: 'absent' } | { at: 'there'; problems: readonly Problem[]; checkpoints: number }>;
  /** What the last known good config would be at the next boot. */
  lastKnownGood: Seen<Candidate>;
  /** The local config: not there, not to be read, against a rule of this kubelet, or usable. */
  local: Seen<{ at: 'missing' } | { at: 'broken'; problem: string } | { at: 'refused'; findings: readonly Finding[] } | { at: 'usable' }>;
  localConfig: string;
  dir: string;
}

export const storeChecks: readonly Check<StoreFacts>[] = [
  { name: 'store', wants: 'checkpoints and records are intact', decide: sound },
  { name: 'last-known-good', wants: 'the last known good config is usable', decide: loadable },
  { name: 'local-config', wants: 'the local config exists and this kubelet accepts it', decide: local },
];

function sound({ store, dir }: StoreFacts): Verdict {
  const found = the(store);
  if (found.at === 'absent')
    return failed(
      `there is no store in ${dir}: the agent has never started on this node`,
      'systemctl start dkc-agent; journalctl -u dkc-agent -e',
    );
  const { problems, checkpoints } = found;
  if (problems.length === 0) return ok(`${checkpoints} ${checkpoints === 1 ? 'checkpoint' : 'checkpoints'}, all intact`);
  return failed(
    someOf(problems.map(({ path, problem }) => `${path}: ${problem}`), 3), // prettier-ignore
    'dkc checkpoints verify lists all of them; systemctl restart dkc-agent sets damaged records aside and downloads damaged checkpoints again',
  );
}

function loadable({ lastKnownGood, store }: StoreFacts): Verdict {
  const found = the(store);
  if (found.at === 'absent') return skipped('there is no store');
  if (found.problems.length > 0) return skipped('the store is damaged');
  const config = the(lastKnownGood);
  switch (config.at) {
    case 'none':
      return ok('there is none: the node falls back to its local config');
    case 'unknown':
      return failed(
        'the record of the last known good config is missing: the node falls back to its local config',
        'systemctl restart dkc-agent writes the record again',
      );
    case 'usable':
      return ok(sourceText(config.source));
    case 'unusable':
      return failed(
        `${sourceText(config.source)} cannot be used: ${config.problem}`,
        'assign a configuration that this kubelet accepts; dkc drill shows what the node would fall back to',
      );
    case 'condemned':
      return warning(
        `${sourceText(config.source)} is condemned: ${config.reason}`,
        'assign another configuration, or dkc retry last-known-good',
      );
  }
}

function local({ local, localConfig }: StoreFacts): Verdict {
  const found = the(local);
  switch (found.at) {
    case 'missing':
      return failed(
        `the local config ${localConfig} does not exist: the node has no last fallback`,
        'restore the file, or set localConfig in /etc/dkc/agent.yaml',
      );
    case 'broken':
      return failed(`${localConfig} cannot be read: ${found.problem}`, `fix the file; dkc validate ${localConfig} lists all problems`);
    case 'refused':
      return failed(
        `the kubelet would not start with ${localConfig}: ${problemText(found.findings.slice(0, 3))}`,
        `fix the file; dkc validate ${localConfig} lists all problems`,
      );
    case 'usable':
      return ok(localConfig);
  }
}
