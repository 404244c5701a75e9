/** The house rules that `npm run check` walks the imports for. Data only. */

/** Rooms from the door down. A file may import its own room and any room on a lower line, never one beside it. */
export const levels: readonly (readonly string[])[] = [
  ['test', 'bench', 'scripts'],
  ['cli'],
  // The rollout controller validates and compares kubelet configurations, and reads what agents report.
  ['controllers'],
  ['agent', 'scheduler', 'apiserver', 'deploy'],
  ['kube'],
  ['base'],
];

/** Folders that others in their room do without: what is at `from` may not import what is at `to`, types included. */
export const apart: readonly { from: RegExp; to: RegExp }[] = [
  {
    from: /^scheduler\/(cycle\.ts$|informers\.ts$|(core|cache|config|engine|extenders|plugins|pod|preempt|queue|volumes)\/)/,
    to: /^scheduler\/(reservation|placeholder)\//,
  },
  { from: /^controllers\/(common|daemonset|statefulset)\//, to: /^(agent|scheduler|apiserver|deploy)\// },
  { from: /^scheduler\/reservation\//, to: /^scheduler\/placeholder\// },
];

/** Rooms whose files are pure unless `mayDoIO` lists them. `cli` is the edge: it builds the world. */
export const pureRooms: readonly string[] = ['agent', 'controllers', 'scheduler', 'apiserver', 'deploy', 'kube', 'base'];

/**
 * Files that may do I/O: read the clock, the disk, the network, chance or the process, or import a file that does. Everything else in `pureRooms`
 * is pure, so that it is tested with values: a new planner is checked from its first day.
 */
export const mayDoIO: readonly RegExp[] = [
  /^base\/(changing-files|clock|disk|exec|line-log|lock|pino-log|random)\.ts$/,
  /^kube\/(client|metrics|process|serving)\//,
  /^kube\/cache\/(informers|shared-informer)\.ts$/,
  /^kube\/controller\/(run-controller|workers)\.ts$/,
  /^agent\/agent\.ts$/,
  /^agent\/host\/host\.ts$/,
  /^agent\/metrics\//,
  /^agent\/run\/(notify|online)\.ts$/,
  /^agent\/store\/(fs-store|store-lock)\.ts$/,
  /^agent\/sync\/preflight\.ts$/,
  /^agent\/trial\/health\.ts$/,
  /^apiserver\/(api|certificate|direct|local-api|server)\.ts$/,
  /^apiserver\/crd\/(custom-kind|definition-errors|definitions|value-errors)\.ts$/,
  /^apiserver\/gc\/collector\.ts$/,
  /^apiserver\/handlers\/(delete|patch|resource|write)\.ts$/,
  /^apiserver\/http\//,
  /^controllers\/common\/reconcile\.ts$/,
  /^controllers\/daemonset\/controller\.ts$/,
  /^controllers\/fleet\/server-facts\.ts$/,
  /^controllers\/page\/(page|server)\.ts$/,
  /^controllers\/rollout\/(controller|gates\/http-get)\.ts$/,
  /^controllers\/statefulset\/controller\.ts$/,
  /^scheduler\/(cycle|explain|scheduler)\.ts$/,
  /^scheduler\/core\/(loop|schedule-one|state)\.ts$/,
  /^scheduler\/extenders\/(chain|extender|post)\.ts$/,
];

/** Pure files of rooms in which the others may do I/O. */
export const decides: readonly RegExp[] = [
  /^kube\/client\/(json-bytes|kubeconfig|limits|list-decoder|watch-loop)\.ts$/,
  /^cli\/doctor\/(check\.ts$|node\/|cluster\/)/,
  /^cli\/scheduler\/(explain-pod|rights)\.ts$/,
  /^cli\/deploy\/install-plan\.ts$/,
  /^cli\/support-bundle\/(bounds\.ts$|redact\/)/,
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
  'croner',
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
