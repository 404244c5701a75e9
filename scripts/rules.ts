/** The rules for imports that `npm run check` enforces. Data only. */

/** Rooms (top-level directories) by level. A file may import its own room and any room on a lower level, but no other room on its level. */
export const levels: readonly (readonly string[])[] = [
  ['test', 'bench', 'scripts'],
  ['cli'],
  // Above agent: the rollout controller validates and compares kubelet configurations, and reads what agents report.
  ['controllers'],
  ['agent', 'scheduler', 'apiserver', 'deploy'],
  ['kube'],
  ['base'],
];

/** Forbidden imports within a room: files in `from` may not import files in `to`, including types. */
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
 * Files that may do I/O: read the clock, the disk, the network, chance or the process, or import a file that does. All other files in `pureRooms`
 * must be pure, so that tests need only values; this applies to new files at once.
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
  /^agent\/store\/(fs-store|record-files)\.ts$/,
  /^agent\/sync\/preflight\.ts$/,
  /^agent\/trial\/health\.ts$/,
  /^apiserver\/(api|certificate|direct|local-api|server)\.ts$/,
  /^apiserver\/crd\/(custom-kind|definition-errors|definitions|value-errors)\.ts$/,
  /^apiserver\/gc\/collector\.ts$/,
  /^apiserver\/handlers\/(patch|resource|write)\.ts$/,
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

/** Pure files in rooms whose other files may do I/O. */
export const decides: readonly RegExp[] = [
  /^kube\/client\/(json-bytes|kubeconfig|limits|list-decoder|watch-loop)\.ts$/,
  /^cli\/doctor\/(check\.ts$|node\/|cluster\/)/,
  /^cli\/scheduler\/(explain-pod|rights)\.ts$/,
  /^cli\/deploy\/install-plan\.ts$/,
  /^cli\/support-bundle\/(bounds\.ts$|redact\/)/,
];

/** Node modules that only compute, without I/O. */
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

/** Code that a pure file must not contain: clock, disk, network and so on are parameters. */
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

/** File names that do not describe their content. */
export const badNames = /(^|\/)(utils?|helpers?|misc|common)\.ts$/;
