import { readFileSync } from 'node:fs';
import { readPage, type Command, type Part } from './console.ts';

/** A page whose commands are not looked at yet. */
export const OPEN = 'open';

const DEPLOYED = 'test/suites/real/deployed.test.ts';
const PLUGIN = 'test/suites/real/kubectl-plugin.test.ts';
const NO_STREAMS = 'the API server forwards to the kubelet of a node that runs containers, and there is none';
const PLAYED = 'test/suites/embedded/played-pages.test.ts';

/**
 * What becomes of each command that a block of a page shows: the test file that plays it, which takes it from the page by {@link playedBy}; or in words why none can.
 * A key is how commands begin, `$ ` before those of console blocks; or a heading, for all commands below it. The longest key counts, and a command's before a heading's.
 */
export const ledger: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'README.md': {
    'npm ci && npm run demo': 'test/suites/embedded/demo-recording.test.ts',
    'apt install': OPEN,
    'dkc render | sed': OPEN,
    'npm cit': 'it is what CI does: npm ci, and npm test after it',
    '## On a node': OPEN,
    '## Three nodes, from nothing': 'test/suites/real/newcomer.test.ts',
    '## At 3 a.m.': OPEN,
  },
  'docs/benchmarks.md': {
    '': 'benchmarks take minutes to hours, and their figures are those of a machine; test/unit/cli/docs-commands.test.ts knows their names',
  },
  'docs/controllers.md': { '$ ': PLAYED, 'kube-controller-manager ': DEPLOYED },
  'docs/deploy.md': { '': DEPLOYED, 'kubectl -n dkc-system port-forward': NO_STREAMS },
  'docs/doctor.md': { '': OPEN },
  'docs/embedded-api.md': { '': PLAYED },
  'docs/fatal-configurations.md': { '': 'all rows take an hour; CI plays one of each kind with the same files' },
  'docs/first-node.md': { '': 'test/suites/real/first-node.test.ts' },
  'docs/install.md': { '': OPEN },
  'docs/kubectl-plugin.md': { '': PLUGIN },
  'docs/operations.md': { '## Stop': 'test/suites/systemd/stop.test.ts', '': OPEN },
  'docs/packages.md': {
    'npm run package -- ': 'test/suites/systemd/packages.test.ts',
    'npm run image -- ': 'test/suites/real/image.test.ts',
    'npm run ': 'it compresses as for a release, for minutes; the line below it runs the same script',
    '## Where Node.js comes from': 'it needs nodejs.org, which no machine of the project reaches',
    'apt-cache policy': 'what Debian has now is nothing that a test can know',
  },
  'docs/page.md': { '': DEPLOYED, 'kubectl -n kube-system port-forward': NO_STREAMS },
  'docs/quick-start.md': {
    '## kubeadm': 'docs/first-node.md has both on such a node, and is played',
    '## A kubelet with a unit of its own': 'test/suites/systemd/quick-start.test.ts',
    '## k3s, 1.32 and newer': 'test/suites/systemd/quick-start.test.ts',
  },
  'docs/rollouts.md': { '$ ': 'test/suites/real/rollouts-doc.test.ts', '': PLUGIN, 'dkc controllers run': DEPLOYED },
  'docs/scheduler.md': { '$ ': PLAYED },
  'docs/signed-configurations.md': { '$ ': PLAYED },
  'docs/statefulset.md': {
    '': PLAYED,
    'kubectl -n NS logs': 'a kubelet has the logs, and no node here has a kubelet that runs containers',
  },
  'docs/store-format.md': { '': OPEN },
  'docs/support-bundle.md': { '': OPEN },
  'docs/testing.md': {
    'DKC_DIFFERENTIAL_TEXTS=': 'a hundred thousand texts take minutes to an hour; CI plays the same suite with 2,000',
    'node test/support/hollow/run.ts': 'its kubeconfig is of a server that a person has; `npm run bench -- daemonset` starts it so',
  },
};

export const commandsOf = (parts: readonly Part[]): Command[] => parts.filter((part) => part.is === 'command');

/** @param page - as the ledger names it */
export const commandsOn = (page: string): Command[] =>
  commandsOf(readPage(readFileSync(new URL(`../../${page}`, import.meta.url), 'utf8')));

/** The key of the ledger that decides about a command; undefined: there is none. */
export function keyOf(page: string, { block, command, heading }: Command): string | undefined {
  const shown = block === 'console' ? `$ ${command}` : command;
  const weight = (key: string): number => (key.startsWith('#') ? 3 : key.length);
  const fitting = Object.keys(ledger[page] ?? {}).filter((key) => (key.startsWith('#') ? key === heading : shown.startsWith(key)));
  return fitting.toSorted((a, b) => weight(b) - weight(a))[0];
}

/** Whether this test file plays a command. */
export const isPlayedBy = (test: string, page: string, part: Part): part is Command =>
  part.is === 'command' && ledger[page]?.[keyOf(page, part) ?? ''] === test;
