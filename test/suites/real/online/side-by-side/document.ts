import { nodeNames, steps, type NodeName, type Step } from './steps.ts';
import type { Seen, SideBySideResult } from '../scenarios/side-by-side.ts';

const titles: Readonly<Record<NodeName, string>> = { native: 'native kubelet', ours: 'agent' };

/** What stands in docs/side-by-side.md: nothing in here is another in every run. */
export function document({ steps: seen, trusted }: SideBySideResult): string {
  const sections = steps.map((step, n) => section(n + 1, step, seen[n]?.seen));
  return `${head}\n${sections.join('\n')}\n## On the native kubelet's disk\nWhile it dies of \`killer\`, its \`store/meta/last-known-good\` names \`${trusted.before}\`; ten minutes later \`${trusted.after}\`.\n`;
}

function section(n: number, step: Step, seen: Readonly<Record<NodeName, Seen>> | undefined): string {
  const rows = nodeNames.map((name) => {
    const { states = [], starts = 0 } = seen?.[name] ?? {};
    const shown = states.length === 0 ? 'as before' : states.map(stateText).join(' → ');
    return `| ${titles[name]} | ${shown} | ${step.starts[name] === 'dies' ? 'again and again' : starts} |`;
  });
  const why = step.ours === undefined ? [] : [`- ${step.ours.design}.`];
  return [`## ${n}. ${step.step}`, '| node | `status.config` | starts of the kubelet |', '| --- | --- | --- |', ...rows, ...(why.length > 0 ? ['', ...why] : []), ''].join('\n'); // prettier-ignore
}

const stateText = (state: string): string => (state === 'none' ? 'absent' : `\`${state}\``);

const head = `# Side by side with the native dynamic configuration

One node runs a kubelet 1.20.2 under \`--dynamic-config-dir\`, the other one our agent beside a kubelet 1.20.2. The agent runs with \`--preflight=false --policy=none\`: as it
comes, it judges a configuration before it assigns it, and what it refuses is no transition (Q9). Both are Nodes of one kube-apiserver 1.20.2 and are given the same ConfigMaps
at the same time; a watch writes down every \`status.config\` they ever have. \`good@2\` is the second version of the ConfigMap \`good\`, \`odd@1:absent\` another key of \`odd\`
than the usual one; what is absent is left out.

The test demands the same transitions in the same order, and the same number of kubelet starts, except where a line below the table says why not: section and Q numbers are
those of the design. A listed difference that does not occur fails the test as well. One more is not in every run: at its start
the native kubelet may report an internal failure for a moment (Q10); ours never does.

This file is written by the test, and held to it: \`npm run test:real\`; to write it again,

    RECORD=1 node --test test/suites/real/online/side-by-side.test.ts
`;
