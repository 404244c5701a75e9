import type { KubeletFacts } from '../contract.ts';

export type KubeletHelp = Required<Pick<KubeletFacts, 'knownFlags' | 'knownGates'>>;

/**
 * What a kubelet's own `--help` lists: its flags (`--max-pods`, without the dashes), and its feature gates with stage and default.
 * Empty where the text is none of a kubelet's.
 */
export function parseKubeletHelp(text: string): KubeletHelp {
  const flags = [...text.matchAll(/^\s*(?:-\w, )?--([a-z][-a-z0-9]*)/gm)].flatMap(([, name]) => (name === undefined ? [] : [name]));
  // 1.26 and later write `kube:NAME=true|false (BETA - default=true)`.
  const gateLine = /^\s*(?:kube:)?(\w+)=true\|false \((\w+) - default=(true|false)\)/gm;
  const gates = [...text.matchAll(gateLine)].map(
    ([, name = '', stage = '', on]) => [name, { stage: stage.toLowerCase(), default: on === 'true' }] as const,
  );
  return { knownFlags: new Set(flags), knownGates: new Map(gates) };
}
