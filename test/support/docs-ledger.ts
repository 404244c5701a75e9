import { readFileSync } from 'node:fs';
import { commandsOf, readPage, type Command, type Part } from './console.ts';

const DEPLOYED = 'test/suites/real/deployed.test.ts';
const PLUGIN = 'test/suites/real/kubectl-plugin.test.ts';
const NO_STREAMS = 'the API server forwards to the kubelet of a node that runs containers, and there is none';
const NODE = 'test/suites/systemd/packages.test.ts';
const FIRST_NODE = 'test/suites/real/first-node.test.ts';
const PLAYED = 'test/suites/embedded/played-pages.test.ts';

/**
 * What becomes of each command that a block of a page shows: the test file that plays it, which takes it from the page by {@link isPlayedBy}; or in words why none can.
 * A key is how commands begin, `$ ` before those of console blocks; or a heading, for all commands below it. The longest key counts, and a command's before a heading's.
 */
export const ledger: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'README.md': {
    'npm ci && npm run demo': 'test/suites/embedded/demo-recording.test.ts',
    'apt install': NODE,
    'dkc render | sed': NODE,
    'npm cit': 'it is what CI does: npm ci, and npm test after it',
    '## On a node': NODE,
    '## Three nodes, from nothing': 'test/suites/real/newcomer.test.ts',
    '## At 3 a.m.': NODE,
  },
  'docs/benchmarks.md': {
    '': 'benchmarks take minutes to hours, and their figures are those of a machine; test/unit/cli/docs-commands.test.ts knows their names',
  },
  'docs/controllers.md': { '$ ': PLAYED, 'kube-controller-manager ': DEPLOYED },
  'docs/deploy.md': { '': DEPLOYED, 'kubectl -n dkc-system port-forward': NO_STREAMS },
  'docs/doctor.md': { '': NODE },
  'docs/embedded-api.md': { '': PLAYED },
  'docs/fatal-configurations.md': { '': 'all rows take an hour; CI plays one of each kind with the same files' },
  'docs/first-node.md': {
    '': FIRST_NODE,
    '## From the tarball': 'packages.test.ts installs, upgrades and removes by the tarball; what these lines print was recorded once',
  },
  'docs/install.md': { '': NODE },
  'docs/kubectl-plugin.md': { '': PLUGIN },
  'docs/operations.md': {
    '': NODE,
    '## Stop': 'test/suites/systemd/stop.test.ts',
    '## Rights': PLAYED,
    'umask 077; kubectl -n dkc-system create token': FIRST_NODE,
    '## Move from Node.spec.configSource to NodeConfig': PLAYED,
    '## Drift': FIRST_NODE,
    '$ dkc status': 'test/suites/systemd/installation.test.ts',
  },
  'docs/packages.md': {
    'npm run package -- ': 'test/suites/systemd/packages.test.ts',
    'npm run image -- ': 'test/suites/real/image.test.ts',
    'npm run ': 'it compresses as for a release, for minutes; the line below it runs the same script',
    '## Where Node.js comes from': 'it needs nodejs.org, which no machine of the project reaches',
    'apt-cache policy': 'what Debian has now is nothing that a test can know',
  },
  'docs/page.md': { '': DEPLOYED, 'kubectl -n dkc-system port-forward': NO_STREAMS },
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
  'docs/store-format.md': { '': NODE },
  'docs/support-bundle.md': { '$ ': 'test/suites/systemd/support-bundle.test.ts', '': NODE },
  'docs/testing.md': {
    'DKC_DIFFERENTIAL_TEXTS=': 'a hundred thousand texts take minutes to an hour; CI plays the same suite with 2,000',
    'node test/support/hollow/run.ts': 'its kubeconfig is of a server that a person has; `npm run bench -- daemonset` starts it so',
  },
};

const pages = new Map<string, Part[]>();
export const pathOf = (page: string): URL => new URL(`../../${page}`, import.meta.url);

/** A page as it is when it is asked for first. @param page - as the ledger names it */
export function pageOf(page: string): Part[] {
  const parts = pages.get(page) ?? readPage(readFileSync(pathOf(page), 'utf8'));
  pages.set(page, parts);
  return parts;
}

export const commandsOn = (page: string): Command[] => commandsOf(pageOf(page));

/** The key of the ledger that decides about a command; undefined: there is none. */
export function keyOf(page: string, { block, command, heading }: Command): string | undefined {
  const shown = block === 'console' ? `$ ${command}` : command;
  const weight = (key: string): number => (key.startsWith('#') ? 3 : key.length);
  const fitting = Object.keys(ledger[page] ?? {}).filter((key) => (key.startsWith('#') ? key === heading : shown.startsWith(key)));
  return fitting.toSorted((a, b) => weight(b) - weight(a))[0];
}

export const isPlayedBy = (test: string, page: string, part: Part): part is Command =>
  part.is === 'command' && ledger[page]?.[keyOf(page, part) ?? ''] === test;
