import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { availableParallelism, cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { agentMemory } from './agent-memory.ts';
import { agentStart } from './agent-start.ts';
import { cacheLoad } from './cache-load.ts';
import { configReading } from './config.ts';
import { crashPoints } from './crash-points.ts';
import { daemonSetFleet } from './daemonset-fleet.ts';
import { daemonSetGrowth } from './daemonset-growth.ts';
import { daemonSetWork } from './daemonset.ts';
import { editLatency } from './edit-latency.ts';
import { exposure } from './exposure.ts';
import { judged, table, valueOf, type Figure } from './figure.ts';
import { page } from './page.ts';
import { writePlots } from './plot/plot.ts';
import { RESULTS, storedFigure, type StoredResult } from './plot/results.ts';
import { queueVisits } from './queue.ts';
import { listDecode } from './list-decode.ts';
import { requests } from './requests.ts';
import { rolloutFleet } from './rollout-fleet.ts';
import { rolloutGrowth } from './rollout-growth.ts';
import { schedulerCore } from './scheduler-core.ts';
import { schedulerMemory } from './scheduler-memory.ts';
import { schedulerWork } from './scheduler.ts';
import { statefulSetWork } from './statefulset.ts';

/**
 * `npm run bench [-- NAME...]`: the figures of docs/benchmarks.md. Prints a table, then one line of JSON. `--store=FILE` also writes them to
 * bench/results/FILE.json; `--plot` alone draws docs/plots from the stored results.
 */
const benchmarks: Record<string, () => Promise<Figure[] | string>> = {
  memory: agentMemory,
  start: agentStart,
  latency: editLatency,
  config: configReading,
  crashes: crashPoints,
  exposure,
  queue: queueVisits,
  cache: cacheLoad,
  requests,
  lists: listDecode,
  daemonset: daemonSetWork,
  'daemonset-growth': daemonSetGrowth,
  'daemonset-fleet': daemonSetFleet,
  statefulset: statefulSetWork,
  'scheduler-core': schedulerCore,
  scheduler: schedulerWork,
  'scheduler-memory': schedulerMemory,
  'rollout-growth': rolloutGrowth,
  'rollout-fleet': rolloutFleet,
  page,
};

/** Benchmarks that run only if named. */
const long = new Set([
  'rollout-fleet',
  'page',
  'daemonset-growth',
  'daemonset-fleet',
  'statefulset',
  'scheduler-core',
  'scheduler',
  'scheduler-memory',
]);

const words = process.argv.slice(2);
if (words.includes('--plot')) {
  writePlots();
  process.exit(0);
}
const [, file] = words.map((word) => /^--store=(.+)$/.exec(word)).find((found) => found !== null) ?? [];
const asked = words.filter((word) => !word.startsWith('--store='));
const unknown = asked.filter((name) => !(name in benchmarks));
if (unknown.length > 0) {
  console.error(`No benchmark ${unknown.join(', ')}; there are ${Object.keys(benchmarks).join(', ')}`);
  process.exit(2);
}
// The benchmarks measure the bundle that is installed.
const built = spawnSync(process.execPath, ['scripts/build.ts'], { stdio: ['ignore', 'ignore', 'inherit'] });
if (built.status !== 0) process.exit(1);

const figures: Figure[] = [];
for (const [name, run] of Object.entries(benchmarks)) {
  if (asked.length > 0 ? !asked.includes(name) : long.has(name)) continue;
  console.error(`${name} ...`);
  const result = await run();
  if (typeof result === 'string') console.error(`${name} is left out: ${result}`);
  else figures.push(...result);
}
const machine = {
  cores: availableParallelism(),
  processor: cpus()[0]?.model,
  memoryGb: Math.round(totalmem() / 2 ** 30),
  node: process.version,
};
console.log(table(figures));
const summary = figures.map((figure) => {
  const { ours, against } = figure;
  return { what: figure.what, ...judged(figure), ours: valueOf(ours), ...(against ? { against: valueOf(against) } : {}) };
});
console.log(JSON.stringify({ machine, figures: summary }));
if (file !== undefined) {
  const version = spawnSync('git', ['describe', '--always', '--dirty'], { encoding: 'utf8' }).stdout.trim();
  // Directories are specific to this machine.
  const variables = Object.entries(process.env).flatMap(([key, value = '']) =>
    key.startsWith('DKC_') && !value.includes('/') ? [`${key}=${value}`] : [],
  );
  const stored: StoredResult = {
    command: [...variables, 'npm run bench --', ...asked].join(' '),
    date: new Date().toISOString(),
    machine,
    version,
    figures: figures.map(storedFigure),
  };
  writeFileSync(join(RESULTS, `${file}.json`), `${JSON.stringify(stored, null, 2)}\n`);
}
