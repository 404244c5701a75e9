import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { liveDrillHere } from './drill-live.ts';
import { nodeSide, nodeSideFlags, type NodeSide } from './node-side.ts';
import { drill as rehearseAll } from '../../agent/admin/drill/execute.ts';
import type { DrillReport, DrillStep } from '../../agent/admin/drill/plan.ts';
import { boot } from '../../agent/boot/run-boot.ts';
import { ActionError } from '../../base/errors.ts';
import { silentLog } from '../../base/log.ts';
import { fine, wrong, type Exit } from '../command.ts';
import { kubeletOf } from '../config/kubelet-of.ts';
import { UsageError } from '../failure.ts';
import { withNote } from '../note.ts';
import { show, table, type Column } from '../output.ts';
import type { Args } from '../args.ts';
import type { Command, Context } from '../command.ts';

export const drill: Command = {
  describe: [
    'Rehearses what happens on this node when its configuration goes bad. Works on copies of the store in a temporary directory: runs boot on ' +
      'them as they are, with damaged checkpoints, with the assigned configuration condemned, with a damaged record. Each must end with a file ' +
      'that the kubelet can start on. Nothing on the node changes, and no API server is asked.',
    'With --live --yes it is done to this very node: the assigned configuration is condemned, the kubelet restarts with what the node falls ' +
      'back to, and when it is healthy on that, all is taken back. That is two restarts of the kubelet. Interrupted, it takes back as well.',
  ].join('\n\n'),
  examples: [
    { run: 'dkc drill', what: 'rehearse on copies; changes nothing' },
    { run: 'dkc drill --live', what: 'say what a live drill would do here' },
    { run: 'dkc drill --live --yes', what: 'do it' },
  ],
  flags: [
    ...nodeSideFlags(['effective-config', 'local-config', 'kubelet-version', 'merge', 'policy']),
    { name: 'live', type: 'boolean', text: 'on this node instead of on copies' },
    { name: 'yes', type: 'boolean', text: 'yes, restart the kubelet of this node, twice' },
    { name: 'timeout', type: 'duration', value: 'TIME', default: '3m', text: 'with --live: longest wait for each arrival' },
  ],
  positionals: [],
  async run(context, args) {
    if (args.on('yes') && !args.on('live')) throw new UsageError('drill: --yes goes with --live; see dkc drill --help');
    const node = await nodeSide(context, args);
    if (!args.on('live')) return await rehearse(context, args, node);
    const report = await liveDrillHere(context, args, node);
    return 'code' in report ? report : await showReport(context, args, report);
  },
};

async function rehearse(context: Context, args: Args, node: NodeSide): Promise<Exit> {
  const { options } = node;
  const { disk, clock, signal } = context;
  // What boot says about damage that we made ourselves would only alarm.
  const log = args.number('verbose') ? context.log : silentLog;
  const facts = await node.observe();
  const kubelet = await kubeletOf(context, options);
  const scratch = await mkdtemp(join(tmpdir(), 'dkc-drill-')).catch((cause: unknown) => {
    throw new ActionError('make a directory for the rehearsal in', tmpdir(), {
      hint: 'it must be a writable directory; TMPDIR names another',
      cause,
    });
  });
  try {
    const report = await rehearseAll({
      facts,
      options,
      disk,
      clock,
      log,
      kubelet,
      boot,
      storeAt: (root) => (root === node.paths.root ? refuse(root) : node.storeAt(root)),
      scratch,
      signal,
    });
    return withNote(context, await showReport(context, args, report), kubelet.note);
  } finally {
    await disk.remove(scratch);
  }
}

function refuse(root: string): never {
  throw new RangeError(`a drill never works on ${root}`);
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
  return report.passed ? fine : wrong(`the drill failed in ${failed} of ${report.steps.length} steps`);
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
