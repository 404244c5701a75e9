import { nodeSide, nodeSideFlags } from './node-side.ts';
import { age, size } from './spoken.ts';
import { viewCheckpoints, type CheckpointRow } from '../../agent/admin/checkpoints.ts';
import { shortRefs } from '../../agent/admin/refs.ts';
import { fine } from '../command.ts';
import { sourceText } from '../../agent/checkpoint/source.ts';
import { show, table, type Column, type Paint } from '../output/output.ts';
import type { Command } from '../command.ts';

interface Row extends CheckpointRow {
  ref: string;
}

const SHOWN_KEYS = 3;

export const checkpointsList: Command = {
  describe: 'Lists the configurations that this node keeps, newest first. The REF column is what show, diff, rollback and retry take.',
  examples: [
    { run: 'dkc checkpoints list', what: 'what this node could run' },
    { run: 'dkc checkpoints list -o wide', what: 'with full UIDs, all keys and times' },
    { run: 'dkc checkpoints list -o json', what: 'for scripts, with the SHA-256 of every file' },
  ],
  flags: nodeSideFlags(),
  positionals: [],
  async run(context, args) {
    const facts = await (await nodeSide(context, args)).observe();
    const rows = viewCheckpoints(facts);
    const now = context.clock.now();
    await show(context, args, {
      data: rows,
      people: (how) => {
        if (rows.length === 0) return 'No checkpoints: nothing was ever assigned to this node, or all were pruned.\n';
        const refs = shortRefs(rows.map((row) => row.source));
        const shown = rows.map((row, at): Row => ({ ...row, ref: refs[at] ?? '' }));
        return table(columns(now, how.wide), shown, how);
      },
    });
    // Records that point nowhere have no line of their own in the list.
    for (const { path, problem } of facts.problems) context.stderr.write(`dkc: warning: ${path}: ${problem}\n`);
    return fine;
  },
};

const columns = (now: number, wide: boolean): Column<Row>[] => [
  { title: 'REF', value: ({ ref, source }) => (wide ? `${source.uid}/${source.resourceVersion}` : ref) },
  { title: 'CONFIG', value: ({ source }) => sourceText(source) },
  { title: 'KEYS', value: (row) => keysText(row, wide) },
  { title: 'SIZE', value: ({ bytes }) => size(bytes) },
  { title: 'SAVED', value: ({ savedAt }) => (wide ? (savedAt ?? '?') : age(savedAt, now)) },
  {
    title: 'ROLES',
    value: ({ roles }) => roles.join(','),
    paint: (cell, { roles }, paint) => (roles.length > 0 ? paint.bold(cell) : cell),
  },
  { title: 'STATE', value: ({ state }) => state, paint: (cell, { state }, paint) => statePaint(state, paint)(cell) },
];

/** The kubelet's own key first. */
function keysText({ files, source }: Row, wide: boolean): string {
  const all = files.map((file) => file.key);
  const keys = [...all.filter((key) => key === source.kubeletConfigKey), ...all.filter((key) => key !== source.kubeletConfigKey)];
  if (wide || keys.length <= SHOWN_KEYS) return keys.join(',');
  return `${keys.slice(0, SHOWN_KEYS - 1).join(',')},+${keys.length - SHOWN_KEYS + 1} more`;
}

function statePaint(state: CheckpointRow['state'], paint: Paint): (text: string) => string {
  return state === 'intact' ? paint.green : state === 'damaged' ? paint.red : paint.yellow;
}
