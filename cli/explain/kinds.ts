/** Words for the kinds that `dkc why` explains, as kubectl takes them. */
const KINDS: Readonly<Record<string, readonly string[]>> = {
  daemonset: ['daemonset', 'daemonsets', 'ds', 'daemonset.apps', 'daemonsets.apps'],
  statefulset: ['statefulset', 'statefulsets', 'sts', 'statefulset.apps', 'statefulsets.apps'],
  pod: ['pod', 'pods', 'po'],
};
/** Flags of these commands whose value may be the next word. */
const TAKE_NEXT = new Set(['-n', '--namespace', '--kubeconfig', '--context', '-o', '--output', '--node', '--config', '--debug-address']);

/**
 * `dkc why` as kubectl's users type it, in the words of our commands: `why sts db`, `why pod/big`, `why -n shop ds/agent`. Anything else is left as it is.
 * @param argv - after `dkc`
 */
export function inKindWords(argv: readonly string[]): readonly string[] {
  if (argv[0] !== 'why') return argv;
  let at = 1;
  while (argv[at]?.startsWith('-') === true) at += TAKE_NEXT.has(argv[at] ?? '') ? 2 : 1;
  const [type = '', ...rest] = (argv[at] ?? '').split('/');
  const kind = Object.entries(KINDS).find(([, words]) => words.includes(type.toLowerCase()))?.[0];
  if (kind === undefined) return argv;
  const name = rest.length === 0 ? [] : [rest.join('/')];
  return ['why', kind, ...argv.slice(1, at), ...name, ...argv.slice(at + 1)];
}
