import { isPlayedBy, pageOf } from '../../support/docs-ledger.ts';
import { held } from '../../support/played.ts';
import { commandsOf, type Command, type Typed } from '../../support/console.ts';
import { onMachine } from './machine.ts';
import type { Scene } from './scenarios/node-pages.ts';

const FILE = 'test/suites/systemd/packages.test.ts';
const UNASSIGNED =
  '$ dkc unassign --all --wait; idle; dkc retry --all; kubectl -n dkc-system delete configmaps --all && dkc checkpoints prune --keep=0';

/**
 * One node's life, as several pages show it: `PAGE`, `PAGE HEADING` or `PAGE COMMAND...`, all of it that was not played before. Between them `$ `, what somebody types
 * who is not on a page; `= NAME: COMMAND`, which prints what pages call NAME.
 */
const journey = [
  'docs/install.md',
  'README.md apt install',
  "$ dkc deploy manifests | kubectl apply -f - && printf 'trialDuration: 2s\\nunhealthyDeadline: 30s\\n' >> /etc/dkc/agent.yaml && systemctl restart dkc-agent && idle",
  'README.md ## On a node',
  'README.md dkc render | sed',

  'docs/doctor.md dkc doctor',
  `$ printf '[Service]\\nEnvironment="KUBELET_CONFIG_ARGS=--config=/var/lib/kubelet/config.yaml"\\n' > /etc/systemd/system/kubelet.service.d/90-mine.conf; systemctl daemon-reload`,
  'docs/doctor.md',
  '$ rm /etc/systemd/system/kubelet.service.d/90-mine.conf; systemctl daemon-reload',
  'docs/support-bundle.md',
  'docs/operations.md ## At 3 a.m.',

  UNASSIGNED,
  'docs/operations.md ## Prepare the API server',
  '$ node-b joins',
  "$ { cat /var/lib/kubelet/config.yaml; echo 'registryPullQPS: 10'; } > kubelet.yaml && kubectl -n dkc-system create configmap web-2 --from-file=kubelet=kubelet.yaml",
  'docs/operations.md ## Assign',

  UNASSIGNED,
  "$ cp kubelet.yaml web-1.yaml; sed 's/100/-100/' kubelet.yaml > typo.yaml; sed 's/QPS.*/QPS: 4242/' kubelet.yaml > web-2.yaml",
  '$ for name in web-1 typo web-2; do kubectl -n dkc-system create configmap $name --from-file=kubelet=$name.yaml && dkc assign node-a --configmap dkc-system/$name --key kubelet --wait; done; idle',
  'README.md ## At 3 a.m.',

  'docs/operations.md ## Look closer',
  `= UID/RV: dkc checkpoints list -o json | jq -r '.[] | select(.roles == ["assigned"]) | .source.uid + "/" + .source.resourceVersion'`,
  'docs/store-format.md',
  '$ grep -q "$(head -c 64 last)" $META/condemned.json',
  "= 10188: sed -n 's/.*resourceVersion: //p' $META/last-known-good | tr -d '\"'",
  "$ sed -i 's/QPS.*/QPS: 20/' web-2.yaml && kubectl -n dkc-system create configmap web-2 --from-file=kubelet=web-2.yaml --dry-run=client -o yaml | kubectl replace -f - && sleep 0.1 && trusted && idle",
  'docs/operations.md dkc rollback --reason="pods',
  '$ idle; dkc retry --all && trusted',
  'docs/operations.md dkc rollback --dry-run',
  'docs/operations.md dkc rollback --to',
  '$ idle; dkc retry --all && trusted',
  'docs/operations.md dkc rollback --wait',
];

/** @returns where pages show something else, and what of them is not played; with RECORD=1 they are written */
export async function playNodePages(packages: readonly string[], arch: string): Promise<string[]> {
  const left = new Map<string, Set<Command>>();
  const of = (page: string): Set<Command> => {
    const open = left.get(page) ?? new Set(commandsOf(pageOf(page)).filter((part) => isPlayedBy(FILE, page, part)));
    left.set(page, open);
    return open;
  };
  const scenes = journey.flatMap((line): (Scene & { page?: string; part?: Command })[] => {
    const [, name = '', command = ''] = /^(\$|= .*?:) (.*)$/.exec(line) ?? [];
    if (name !== '') return [{ command, ...(name === '$' ? { is: 'added' } : { is: 'named', name: name.slice(2, -1) }) }];
    const [, page = '', key = ''] = /^(\S+) ?(.*)$/.exec(line) ?? [];
    const played = [...of(page)].filter(({ heading, command: typed, block }) => key === '' || heading === key || (block === 'sh' && typed.startsWith(key))); // prettier-ignore
    if (played.length === 0) throw new Error(`nothing is left of ${line}`);
    for (const part of played) of(page).delete(part);
    return played.map((part) => ({ command: part.command.replaceAll('amd64', arch), is: 'shown', page, part }));
  });
  const asked = scenes.map(({ command, is, name }): Scene => ({ command, is, ...(name === undefined ? {} : { name }) }));
  const typed = await onMachine<Typed[]>('node-pages', { bare: true, options: { packages, scenes: asked } });
  const shown = scenes.filter(({ is }) => is === 'shown');
  const seen = new Map(shown.map(({ part }, at) => [part, typed[at]]));
  return [...left].flatMap(([page, open]) => [
    ...held(page, FILE, (part) => seen.get(part)),
    ...[...open].map(({ command }) => `${page}: nobody played ${command}`),
  ]);
}
