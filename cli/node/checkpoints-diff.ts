import { compareSides, type FileDifference, type Side } from '../../agent/admin/checkpoints.ts';
import { printable, printableLines } from '../output/printable.ts';
import { dirname } from 'node:path';
import { nodeSide, nodeSideFlags, refPositional, resolveRef, type NodeSide } from './node-side.ts';
import { keyOf } from '../../agent/admin/roles.ts';
import { samePayload } from '../../agent/checkpoint/source.ts';
import { minimalConfig } from '../../agent/evaluate/local.ts';
import { ActionError, errorCode } from '../../base/errors.ts';
import { fine, wrong, withNote, type Command, type Context } from '../command.ts';
import { kubeletOf } from '../config/config-file.ts';
import { valueText } from '../config/diff.ts';
import { UsageError } from '../failure.ts';
import { show, table, type Column } from '../output/output.ts';
import type { AdminFacts } from '../../agent/admin/facts.ts';
import type { Difference } from '../../agent/config/config.ts';

export const checkpointsDiff: Command = {
  describe:
    'Compares two checkpoints field by field and maps key by key, with defaults filled in; formatting and order do not matter. ' +
    'Other files are compared line by line. ' +
    'Where assigned, last-known-good or active is the local config, that file is compared. Exits with 1 if they differ.',
  examples: [
    { run: 'dkc checkpoints diff assigned', what: 'what the assigned config would change' },
    { run: 'dkc checkpoints diff last-known-good assigned', what: 'what the assigned config changed' },
    { run: 'dkc checkpoints diff 8c1f2d34/10231 -o json', what: 'for scripts' },
  ],
  flags: [
    ...nodeSideFlags(['local-config', 'kubelet-version']),
    {
      name: 'key',
      type: 'string',
      value: 'KEY',
      text: 'key that holds the kubelet configuration',
      defaultText: 'the recorded one, else the only one, else kubelet',
    },
  ],
  positionals: [
    { ...refPositional, name: 'old', required: true },
    { ...refPositional, name: 'new', text: 'as OLD (default: active)' },
  ],
  async run(context, args) {
    const node = await nodeSide(context, args);
    const facts = await node.observe();
    const [refA, refB] = [args.one('old') ?? '', args.one('new') ?? 'active'];
    const [foundA, foundB] = [resolveRef(refA, facts), resolveRef(refB, facts)];
    // Relative paths resolve to the directory of a checkpoint, but a different directory is not a change by the author.
    const placed = foundA.at !== foundB.at;
    const from = { context, node, facts, key: args.text('key'), placed };
    const a = await readSide(refA, foundA, from);
    const b = await readSide(refB, foundB, from);
    if ('why' in a) return wrong(a.why);
    if ('why' in b) return wrong(b.why);
    const { version, note } = await kubeletOf(context, node.options);
    const compared = compareSides(a, b, version);
    if (!compared.ok) return withNote(context, wrong(compared.why), note);

    const { fields, files } = compared;
    const asRows = files.map(({ key, from, to }) => ({ field: `file:${key}`, class: null, from, to }));
    await show(context, args, {
      data: [...fields.map(({ field, class: of, from, to }) => ({ field, class: of, from, to })), ...asRows],
      people: async (how) => {
        if (fields.length + files.length === 0) return `${a.title} and ${b.title} are equivalent.\n`;
        const parts = [
          ...(fields.length > 0 ? [await table(columns(a.title, b.title), fields, how)] : []),
          ...(files.length > 0 ? [await filesText(files, a.title, b.title)] : []),
        ];
        return parts.join('\n');
      },
    });
    return withNote(
      context,
      fields.length + files.length === 0 ? fine : wrong(`${a.title} and ${b.title} differ in ${counted(fields.length, files.length)}`),
      note,
    );
  },
};

const counted = (fields: number, files: number): string =>
  [fields > 0 ? count(fields, 'field') : '', files > 0 ? count(files, 'other file') : ''].filter((part) => part !== '').join(' and ');

const count = (many: number, what: string): string => `${many} ${what}${many === 1 ? '' : 's'}`;

// A REF is printed as typed, so that the user can copy it.
const columns = (a: string, b: string): Column<Difference>[] => [
  { title: 'FIELD', value: ({ field }) => field },
  { title: 'CLASS', value: (row) => row.class, paint: (cell, row, paint) => (row.class === 'safe' ? cell : paint.yellow(cell)) },
  { title: a, value: ({ from }) => valueText(from, true) },
  { title: b, value: ({ to }) => valueText(to, true) },
];

interface SideContext {
  context: Context;
  node: NodeSide;
  facts: AdminFacts;
  key: string | undefined;
  placed: boolean;
}

async function readSide(ref: string, found: ReturnType<typeof resolveRef>, from: SideContext): Promise<Side | { why: string }> {
  const { context, node, facts, placed } = from;
  if (found.at === 'local') return localSide(context, node.options.localConfig, ref, placed);
  const state = await node.store.load(found.ref);
  if (state.at === 'missing')
    throw new ActionError('compare', ref, { hint: 'its checkpoint is not in the store; see dkc checkpoints verify' });
  if (state.at === 'damaged') return { why: `checkpoint ${ref} is damaged: ${state.path}: ${state.problem}` };
  const entry = facts.entries.find((one) => samePayload(one.ref, found.ref));
  const key = from.key ?? found.key ?? found.source?.kubeletConfigKey ?? (entry ? keyOf(entry, facts) : '');
  const { files } = state.checkpoint.payload;
  if (key === '')
    throw new UsageError(
      `cannot tell which key of ${ref} holds the kubelet configuration; set --key to one of ${[...files.keys()].join(', ')}`,
    );
  return { title: ref, files, kubeletConfigKey: key, ...(placed ? { dir: node.paths.checkpoint(found.ref) } : {}) };
}

/** Without a local config the node uses the defaults. */
async function localSide(context: Context, path: string, ref: string, placed: boolean): Promise<Side> {
  const key = 'local config';
  const bytes = await context.disk.readLinked(path).catch((cause: unknown) => {
    if (errorCode(cause) === 'ENOENT') return new TextEncoder().encode(JSON.stringify(minimalConfig));
    throw new ActionError('read', path, { hint: 'it must be a readable file; run this as root', cause });
  });
  return { title: `${ref} (local)`, files: new Map([[key, bytes]]), kubeletConfigKey: key, ...(placed ? { dir: dirname(path) } : {}) };
}

/** Unified diffs of the files that differ. */
async function filesText(files: readonly FileDifference[], from: string, to: string): Promise<string> {
  const { createTwoFilesPatch } = await import('diff');
  const patches = files.map(({ key, ...texts }) => {
    const name = (side: string, text: string | null) => (text === null ? '/dev/null' : printable(`${side}/${key}`));
    return createTwoFilesPatch(name(from, texts.from), name(to, texts.to), texts.from ?? '', texts.to ?? '', undefined, undefined, {
      context: 3,
    });
  });
  return printableLines(patches.map((patch) => patch.replace(/^=+\n/, '')).join(''));
}
