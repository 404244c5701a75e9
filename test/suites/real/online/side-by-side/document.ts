import { nodeNames, steps, type NodeName, type Step } from './steps.ts';
import type { Seen, SideBySideResult } from '../scenarios/side-by-side.ts';

const titles: Readonly<Record<NodeName, string>> = { native: 'native kubelet', ours: 'agent' };

/** What stands in docs/side-by-side.md: nothing in here is another in every run. */
export function document({ steps: seen, trusted }: SideBySideResult): string {
  const sections = steps.map((step, n) => section(n + 1, step, seen[n]?.seen));
  return `${head}\n${sections.join('\n')}\n## On the native kubelet's disk\nWhile the kubelet dies of \`killer\`, its \`store/meta/last-known-good\` names \`${trusted.before}\`; ten minutes later \`${trusted.after}\`.\n`;
}

function section(n: number, step: Step, seen: Readonly<Record<NodeName, Seen>> | undefined): string {
  const rows = nodeNames.map((name) => {
    const { states = [], starts = 0 } = seen?.[name] ?? {};
    const shown = states.length === 0 ? 'as before' : states.map(stateText).join(' → ');
    return `| ${titles[name]} | ${shown} | ${step.starts[name] === 'dies' ? 'again and again' : starts} |`;
  });
  const why = step.ours === undefined ? [] : [`- ${step.ours.why}.`];
  return [`## ${n}. ${step.step}`, '| node | `status.config` | starts of the kubelet |', '| --- | --- | --- |', ...rows, ...(why.length > 0 ? ['', ...why] : []), ''].join('\n'); // prettier-ignore
}

const stateText = (state: string): string => (state === 'none' ? 'absent' : `\`${state}\``);

const head = `# Side by side with the native dynamic configuration

One node runs a kubelet 1.20.2 with \`--dynamic-config-dir\`, the other one the agent beside a kubelet 1.20.2. The agent runs with \`--preflight=false --policy=none\`: by
default it validates a configuration before it assigns it, and a rejected one is no transition. Both are Nodes of one kube-apiserver 1.20.2 and are assigned the same
ConfigMaps at the same time; a watch records every \`status.config\` that they have. \`good@2\` is the second version of the ConfigMap \`good\`, \`odd@1:absent\` the key
\`absent\` of \`odd\` instead of the usual key; absent fields are omitted.

The test requires the same transitions in the same order, and the same number of kubelet starts, except where a line below the table gives the reason.
A listed difference that does not occur fails the test as well. One more difference is not in every run: at its start
the native kubelet may report an internal failure for a moment; the agent never does.

The test writes this file, and compares each run with it: \`npm run test:real\`. To write it again:

    RECORD=1 node --test test/suites/real/online/side-by-side.test.ts
`;
