import { nodeSide, type NodeSide, nodeSideFlags, refPositional, resolveRef } from './node-side.ts';
import { age, size } from './spoken.ts';
import { type CheckpointRow, prune, viewCheckpoints } from '../../agent/admin/checkpoints.ts';
import { shortRefs } from '../../agent/admin/refs.ts';
import { type Command, type Context, fine, wrong } from '../command.ts';
import { samePayload, sameSource, sourceText } from '../../agent/checkpoint/source.ts';
import { type Column, type Paint, show, table } from '../output/output.ts';
import { sourceOf } from '../../agent/admin/roles.ts';
import { ActionError } from '../../base/errors.ts';
import { printable, printableLines } from '../output/printable.ts';
import { type AdminFacts, recorded } from '../../agent/admin/facts.ts';
import { SIGNATURE_KEY } from '../../agent/config/signature/check.ts';
import { signersOf } from '../../agent/evaluate/node-inputs.ts';
import type { Problem } from '../../agent/store/store.ts';

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
    // Records that refer to missing checkpoints have no row in the list.
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

export const checkpointsShow: Command = {
  describe:
    'Prints the files of one checkpoint as they were downloaded. They may hold secrets, such as the header of staticPodURLHeader. ' +
    'With --file it prints only that file, byte for byte; on a terminal control characters are escaped.',
  examples: [
    { run: 'dkc checkpoints show assigned', what: 'what is assigned to this node, all keys' },
    { run: 'dkc checkpoints show 8c1f2d34/10231 --file=kubelet > kubelet.yaml', what: 'one file, byte for byte' },
    { run: 'dkc checkpoints show last-known-good -o json', what: 'for scripts' },
  ],
  flags: [...nodeSideFlags(), { name: 'file', type: 'string', value: 'KEY', text: 'print only this file, raw' }],
  positionals: [{ ...refPositional, required: true }],
  async run(context, args) {
    const node = await nodeSide(context, args);
    const facts = await node.observe();
    const asked = args.one('ref') ?? '';
    const found = resolveRef(asked, facts);
    if (found.at === 'local') {
      const hint = `it refers to the local config, which has no checkpoint: read ${node.options.localConfig}`;
      throw new ActionError('show', asked, { hint });
    }
    const state = await node.store.load(found.ref);
    if (state.at === 'missing')
      throw new ActionError('show', asked, { hint: 'its checkpoint is not in the store; see dkc checkpoints verify' });
    if (state.at === 'damaged') return wrong(`checkpoint ${asked} is damaged: ${state.path}: ${state.problem}`);

    const { files } = state.checkpoint.payload;
    const texts = Object.fromEntries(Array.from(files, ([key, bytes]) => [key, textOf(bytes)]));
    const file = args.text('file');
    if (file !== undefined) {
      const text = Object.hasOwn(texts, file) ? texts[file] : undefined;
      if (text === undefined)
        throw new ActionError('show', `${file} of ${asked}`, { hint: `no such key; it has: ${Object.keys(texts).join(', ')}` });
      context.stdout.write(context.stdout.isTTY ? printableLines(text) : text);
      return fine;
    }
    const entry = facts.entries.find((one) => samePayload(one.ref, found.ref));
    const recorded = found.source ?? (entry ? sourceOf(entry, facts) : null);
    const source = recorded && found.key !== undefined ? { ...recorded, kubeletConfigKey: found.key } : recorded;
    const kubelets = source?.kubeletConfigKey ?? '';
    await show(context, args, {
      data: { source, files: texts },
      people: ({ paint }) =>
        Object.entries(texts)
          .map(([key, text]) => {
            const title = `# ${printable(key)}${key === kubelets ? ' (the kubelet configuration)' : ''}`;
            return `${paint.bold(title)}\n${printableLines(text)}${text.endsWith('\n') ? '' : '\n'}`;
          })
          .join('\n'),
    });
    return fine;
  },
};

/** Data of a ConfigMap is UTF-8; a byte order mark is part of it. */
function textOf(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
}

export const checkpointsVerify: Command = {
  describe:
    'Checks every checkpoint against its manifest, every record, and the local config; where the field policy has signatureKeys, also who ' +
    'signed the assigned and the last known good config. Changes nothing. Exits with 1 if anything is damaged, missing or not signed. ' +
    'The agent downloads a damaged checkpoint again once it reaches the API server, and sets a damaged record aside at its next start.',
  examples: [
    { run: 'dkc checkpoints verify', what: 'the whole store' },
    { run: 'dkc checkpoints verify -o json', what: 'for monitoring' },
  ],
  flags: nodeSideFlags(['policy'], { policy: 'field policy with the signatureKeys that must have signed the configs in use' }),
  positionals: [],
  async run(context, args) {
    const node = await nodeSide(context, args);
    const facts = await node.observe({ needsLocal: true });
    const { entries } = facts;
    const [local, unsigned] = [localProblems(facts), await unsignedProblems(context, node, facts)];
    const problems = [...facts.problems, ...local, ...unsigned];
    await show(context, args, {
      data: problems.map(({ path, problem }) => ({ path, problem })),
      people: (how) => {
        if (problems.length === 0)
          return `OK: ${entries.length} ${entries.length === 1 ? 'checkpoint' : 'checkpoints'} and all records are intact.\n`;
        const columns: Column<Problem>[] = [
          { title: 'PATH', value: ({ path }) => path },
          { title: 'PROBLEM', value: ({ problem }) => problem },
        ];
        return table(columns, problems, how);
      },
    });
    const damaged = facts.problems.filter((problem) => problem.isInaccessible !== true).length;
    const faults = [
      ...(damaged === 0 ? [] : [`${damaged} of the store's files ${damaged === 1 ? 'is' : 'are'} damaged`]),
      ...(damaged === facts.problems.length ? [] : ['the agent may not read or change all of the store']),
      ...(local.length === 0 ? [] : ['the local config cannot be used']),
      ...(unsigned.length === 0 ? [] : ['the config in use is not signed']),
    ];
    return faults.length === 0 ? fine : wrong(faults.join('; '));
  },
};

/** The local config is not in the store, but it is required as the last fallback. */
function localProblems({ local, active }: AdminFacts): Problem[] {
  if (local.at === 'missing') return [{ path: local.path, problem: 'no local config: there is no last fallback' }];
  if (local.at === 'broken') return [{ path: local.path, problem: local.problem }];
  const notice = active?.ok ? active.record.notices?.find(({ about }) => about === 'local-config') : undefined;
  return notice ? [{ path: local.path, problem: notice.text }] : [];
}

/** Assigned and last-known-good configs that boot would reject because of a missing signature. */
async function unsignedProblems({ disk }: Context, { options, store, paths }: NodeSide, facts: AdminFacts): Promise<Problem[]> {
  const verify = await signersOf(options, disk, store);
  if (verify === 'none' || verify === 'unknown') return [];
  const [assigned, trusted] = [recorded(facts.assigned), recorded(facts.lastKnownGood)];
  const problems: Problem[] = [];
  for (const source of sameSource(assigned, trusted) ? [assigned] : [assigned, trusted]) {
    const found = await verify(source);
    if (source !== null && found?.ok === false) problems.push({ path: paths.file(source, SIGNATURE_KEY), problem: found.finding.message });
  }
  return problems;
}

export const checkpointsPrune: Command = {
  describe:
    'Removes checkpoints that this node does not need: all but the assigned, the last known good and the active one, the one that the effective ' +
    'file was rendered from, and the newest N others. Removes nothing while the assignment is unknown. The agent prunes automatically.',
  examples: [
    { run: 'dkc checkpoints prune --dry-run', what: 'what would be removed' },
    { run: 'dkc checkpoints prune --keep=0', what: 'keep only what is in use' },
  ],
  flags: [
    ...nodeSideFlags(['effective-config']),
    { name: 'keep', type: 'number', value: 'N', text: 'how many others to keep', defaultText: 'keepCheckpoints in agent.yaml, else 5' },
    { name: 'dry-run', type: 'boolean', text: 'remove nothing' },
  ],
  positionals: [],
  async run(context, args) {
    const node = await nodeSide(context, args);
    const keep = args.number('keep') ?? node.options.keepCheckpoints;
    const pruned = await prune(node.store, () => node.observe(), { keep, dryRun: args.on('dry-run') });
    await show(context, args, {
      data: pruned.map(({ source, removed }) => ({ source, removed })),
      people: (how) => {
        if (pruned.length === 0) return 'Nothing to remove.\n';
        const refs = shortRefs(pruned.map(({ source }) => source));
        return table(
          [
            { title: 'REF', value: ({ source, ref }) => (how.wide ? `${source.uid}/${source.resourceVersion}` : ref) },
            { title: 'CONFIG', value: ({ source }) => sourceText(source) },
            { title: 'REMOVED', value: ({ removed }) => (removed ? 'yes' : 'no (dry run)') },
          ],
          pruned.map((one, at) => ({ ...one, ref: refs[at] ?? '' })),
          how,
        );
      },
    });
    return fine;
  },
};
