/** The house rules that `npm run check` walks the imports for. Data only. */

/** Rooms from the door down. A file may import its own room and any room on a lower line, never one beside it. */
export const levels: readonly (readonly string[])[] = [
  ['test', 'bench', 'scripts'],
  ['cli'],
  ['agent', 'controllers', 'scheduler', 'apiserver'],
  ['kube'],
  ['base'],
];

/** Folders that others in their room do without: what is at `from` may not import what is at `to`, types included. */
export const apart: readonly { from: RegExp; to: RegExp }[] = [
  {
    from: /^scheduler\/(cycle\.ts$|informers\.ts$|(core|cache|config|engine|extenders|plugins|pod|preempt|queue|volumes)\/)/,
    to: /^scheduler\/(reservation|placeholder)\//,
  },
  { from: /^scheduler\/reservation\//, to: /^scheduler\/placeholder\// },
];

/** Files that decide: pure, so that they are tested with values. Nothing they import may touch the world either. */
export const decides: readonly RegExp[] = [
  /(^|\/)(plan|next|judge)\.ts$/,
  /^agent\/config\//,
  /^agent\/checkpoint\//,
  /^agent\/store\/(layout|serialized|content|records|prune|active-record)\.ts$/,
  /^agent\/admin\/(checkpoints|facts|refs|roles|status)\.ts$/,
  /^agent\/status\/(node-status|errors)\.ts$/,
  /^agent\/trial\/(exits|record)\.ts$/,
  /^agent\/host\/(parse|command-line)\.ts$/,
  /^agent\/events\/event\.ts$/,
  /^kube\/api\//,
  /^kube\/client\/(watch-machine|watch-pace|list-decoder|retry-after|kubeconfig-merge)\.ts$/,
  /^kube\/cache\/(change|fields|freeze|indexed-store|intern|reflection|share|version)\.ts$/,
  /^kube\/controller\/(claim-plan|event|event-aggregation|outcome|owner-refs|route)\.ts$/,
  /^kube\/queue\/ready-keys\.ts$/,
  /^kube\/election\/lease\.ts$/,
  /^controllers\/common\/(annotations|availability|pod-from-template|progress)\.ts$/,
  /^controllers\/daemonset\/placement\//,
  /^controllers\/daemonset\/(actions|enqueue|explain|facts|manage|opt-ins|pods|recount|rules|status|summary|update)\.ts$/,
  /^controllers\/statefulset\/(actions|enqueue|explain|facts|growth|opt-ins|ordered|parallel|place|places|retention|rules|slots|status|storage|update)\.ts$/,
  /^scheduler\/(cluster-event|explain|explain-facts|types)\.ts$/,
  /^scheduler\/(cache|config|engine|plugins|pod)\//,
  /^scheduler\/core\/(hooks|state)\.ts$/,
  /^apiserver\/gc\/verdict\.ts$/,
  /^apiserver\/patch\//,
  /^cli\/controllers\/(explain-set|explain-stateful-set|names)\.ts$/,
  /^controllers\/common\/history\/(hash|revision)\.ts$/,
  /^cli\/scheduler\/(explain-pod|rights)\.ts$/,
  /^scheduler\/volumes\/(assumptions|binding|candidates|claims|contract|filters|needs|pod-volumes|progress|rules)\.ts$/,
  /^scheduler\/extenders\/(fields|protocol|verdict)\.ts$/,
  /^scheduler\/preempt\/(contract|eligible|pick|post-filter)\.ts$/,
  /^scheduler\/reservation\/(capacity|contract|deadlines|decide|events|ghost|kept-room|persist|reasons|reservation-index|reservations)\.ts$/,
  /^scheduler\/placeholder\/(placeholder-pod|seen-placeholders)\.ts$/,
  /^scheduler\/queue\/(entry|equivalence-class|hints|nominator|own-change|pending|queue|unschedulable)\.ts$/,
  /^scheduler\/queue\/hints\//,
  /^base\/(backoff|go-duration|errors|disk|lock|nearest)\.ts$/,
];

/** Node modules that compute and do not reach out. */
export const harmless = new Set([
  'node:crypto',
  'node:path',
  'node:util',
  'node:buffer',
  'node:assert',
  'node:assert/strict',
  'yaml',
  'diff',
]);

/** What a file that decides must not say: the world arrives as a parameter. */
export const worldly: readonly { pattern: RegExp; what: string }[] = [
  { pattern: /\bDate\.now\(|\bnew Date\(\s*\)|\bperformance\.now\(/, what: 'reads the clock' },
  { pattern: /\bMath\.random\(|\brandomUUID\(|\brandomBytes\(/, what: 'draws random numbers' },
  { pattern: /(?<![.\w'"`])process\.(?!env\.NODE_TEST)/, what: 'looks at the process' },
  { pattern: /(?<![.\w])(setTimeout|setInterval|setImmediate)\(/, what: 'waits' },
  { pattern: /(?<![.\w])fetch\(/, what: 'uses the network' },
  { pattern: /(?<![.\w])console\./, what: 'prints' },
];

/** Packages that cost the agent memory and start time: reached by `await import()` only. */
export const lazyOnly = new Set(['yargs', '@kubernetes/client-node', 'diff', 'write-file-atomic']);

/** Libraries of our own are named by what they hold. */
export const badNames = /(^|\/)(utils?|helpers?|misc|common)\.ts$/;
