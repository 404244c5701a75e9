import { isoNow, nodeSide, type NodeSide, nodeSideFlags } from './node-side.ts';
import { describeLive, type DrillReport, type DrillStep, planLiveDrill } from '../../agent/admin/drill/plan.ts';
import { drill as rehearseAll, liveDrill, steadyDrill } from '../../agent/admin/drill/execute.ts';
import { peek } from './applied.ts';
import { agentRuns } from './status.ts';
import { ActionError } from '../../base/errors.ts';
import { type Command, type Context, type Exit, fine, withNote, wrong } from '../command.ts';
import { UsageError } from '../failure.ts';
import { printable } from '../output/printable.ts';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { boot } from '../../agent/boot/execute.ts';
import type { Millis } from '../../base/clock.ts';
import { tempPrefix } from '../../base/durable-disk.ts';
import { silentLog } from '../../base/log.ts';
import { kubeletOf } from '../config/config-file.ts';
import { type Column, formatOf, show, table } from '../output/output.ts';
import type { Args } from '../args/args.ts';

export const drill: Command = {
  describe: [
    'Rehearses what happens on this node when its configuration fails. Boots from copies of the store in a temporary directory: ' +
      'unchanged, with damaged checkpoints, with the assigned configuration condemned, with a damaged record. Each boot must end with a file ' +
      'that the kubelet can start with. Changes nothing on the node and needs no API server.',
    'With --live --yes the drill runs on the node itself: the assigned configuration is condemned, the kubelet restarts with the ' +
      'fallback, and once it is healthy the condemnation is cleared. The kubelet restarts twice. An interrupted drill clears the condemnation too.',
  ].join('\n\n'),
  examples: [
    { run: 'dkc drill', what: 'rehearse on copies; changes nothing' },
    { run: 'dkc drill --live', what: 'show what a live drill would do here' },
    { run: 'dkc drill --live --yes', what: 'run the live drill' },
  ],
  flags: [
    ...nodeSideFlags(['effective-config', 'local-config', 'kubelet-version', 'merge', 'policy']),
    { name: 'live', type: 'boolean', text: 'run the drill on this node instead of on copies' },
    { name: 'yes', type: 'boolean', text: 'confirm that the kubelet of this node restarts twice' },
    { name: 'timeout', type: 'duration', value: 'TIME', default: '3m', text: 'with --live: maximum wait for each of the two changes' },
  ],
  positionals: [],
  async run(context, args) {
    if (args.on('yes') && !args.on('live')) throw new UsageError('drill: --yes requires --live; see dkc drill --help');
    // Checked first: a live drill restarts the kubelet twice before it prints anything.
    if (formatOf(args) === 'name') throw new UsageError('drill: -o name: a drill has no names; use -o json');
    // Not the disk for scans: Ctrl-C during one of its reads kills the process, which would leave the copies of the store.
    const node = await nodeSide({ ...context, scanDisk: context.disk }, args);
    if (!args.on('live')) return await simulate(context, args, node);
    const report = await liveDrillHere(context, args, node);
    return 'code' in report ? report : await showReport(context, args, report);
  },
};

async function simulate(context: Context, args: Args, node: NodeSide): Promise<Exit> {
  const { options } = node;
  const { disk, clock, signal } = context;
  // Boot logs the damage that the drill itself causes: shown only with -v.
  const log = args.number('verbose') ? context.log : silentLog;
  const kubelet = await kubeletOf(context, options);
  await removeLeftovers(context).catch((error: unknown) =>
    context.log.warn('failed to remove the copies of a drill that was killed', { error }),
  );
  const scratch = await mkdtemp(join(tmpdir(), SCRATCH)).catch((cause: unknown) => {
    throw new ActionError('create a temporary directory in', tmpdir(), {
      hint: 'it must be a writable directory; set TMPDIR to another one',
      cause,
    });
  });
  // A held lock shows other drills that this one is running.
  const lock = await context.locks.take(join(scratch, LOCK), 0).catch(() => undefined);
  try {
    const report = await steadyDrill(
      () => node.observe({ needsLocal: true }),
      (facts, attempt) =>
        rehearseAll({
          facts,
          options,
          disk,
          clock,
          log,
          kubelet,
          boot,
          storeAt: (root) => (root === node.paths.root ? refuse(root) : node.storeAt(root)),
          scratch: join(scratch, String(attempt)),
          signal,
        }),
    );
    return withNote(context, await showReport(context, args, report), kubelet.note);
  } finally {
    await disk.remove(scratch);
    await lock?.release();
  }
}

const SCRATCH = 'dkc-drill-';
const LOCK = 'lock';
/** The drill of a younger copy may not have taken its lock yet. */
const YOUNG_MS: Millis = 60_000;

/**
 * Removes the copies of the store, with configurations, that killed drills left behind. The directory is writable for all users: only directories that belong
 * to this user, without access for others, are removed, and only if the sticky bit prevents other users from replacing them.
 */
async function removeLeftovers({ disk, locks, clock }: Context): Promise<void> {
  const dir = await disk.realPath(tmpdir());
  const { mode: shared } = (await disk.stat(dir)) ?? { mode: WRITABLE };
  if ((shared & WRITABLE) !== 0 && (shared & STICKY) === 0) return;
  for (const name of await disk.list(dir)) {
    if (!name.startsWith(SCRATCH) && !name.startsWith(tempPrefix)) continue;
    const path = join(dir, name);
    const found = await disk.stat(path);
    const isOurs = found?.kind === 'dir' && found.uid === process.getuid?.() && (found.mode & OTHERS) === 0;
    if (!isOurs || clock.now() - found.modifiedMs < YOUNG_MS) continue;
    const lock = await locks.take(join(path, LOCK), 0).catch(() => undefined);
    if (!lock) continue;
    try {
      await disk.remove(path);
    } finally {
      await lock.release();
    }
  }
}

const [STICKY, WRITABLE, OTHERS] = [0o1000, 0o022, 0o077];

function refuse(root: string): never {
  throw new RangeError(`a drill must not work on ${root}`);
}

async function showReport(context: Context, args: Args, report: DrillReport): Promise<Exit> {
  await show(context, args, {
    data: report,
    people: async (how) => {
      const drawn = await table(columns, report.steps, how);
      const end = report.passed ? how.paint.green('Passed.') : how.paint.red('Failed.');
      return `${drawn}\n${end}\n`;
    },
  });
  const failed = report.steps.filter((step) => !step.passed).length;
  return report.passed ? fine : wrong(`${failed} of ${report.steps.length} drill steps failed`);
}

const columns: Column<DrillStep>[] = [
  { title: 'STEP', value: ({ step }) => step },
  { title: 'EXPECTED', value: ({ expected }) => expected },
  { title: 'SEEN', value: ({ seen }) => seen },
  { title: 'TIME', value: ({ ms }) => (ms < 10_000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`) },
  {
    title: 'RESULT',
    value: ({ passed }) => (passed ? 'passed' : 'FAILED'),
    paint: (cell, { passed }, paint) => (passed ? paint.green(cell) : paint.red(cell)),
  },
];

/** @returns the report, or exit 1 if the state of this node does not allow a drill. @throws UsageError without --yes */
async function liveDrillHere(context: Context, args: Args, node: NodeSide): Promise<DrillReport | Exit> {
  const plan = planLiveDrill(await node.observe(), isoNow(context));
  if (plan.at === 'refused') return wrong(`Cannot drill this node: ${plan.why}`);
  if (!args.on('yes')) throw new UsageError(`drill --live ${describeLive(plan)}; add --yes to do it`);
  if (!(await agentRuns(context, node))) {
    throw new ActionError('drill', `node ${node.options.nodeName}`, {
      hint: 'its agent is not running; start it: systemctl start dkc-agent',
    });
  }
  const before = await peek(context, node);
  if (before.healthy === false) {
    return wrong(`Cannot drill this node: its kubelet is not healthy (${node.options.kubeletHealthz})`);
  }
  return liveDrill(plan, {
    store: node.store,
    clock: context.clock,
    signal: context.signal,
    peek: () => peek(context, node),
    printProgress: (text) => context.stderr.write(`dkc: ${printable(text)}\n`),
    timeoutMs: args.ms('timeout') ?? 180_000,
  });
}
