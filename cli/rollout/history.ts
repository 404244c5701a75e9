import type { Millis } from '../../base/clock.ts';
import { type ConfigMap, contentHash, keyOf, numberOf } from '../../controllers/rollout/revision.ts';
import { COPY_OF_ANNOTATION, type NodeConfigRollout } from '../../controllers/rollout/types.ts';
import { type Command, fine } from '../command.ts';
import { connectFlags, withClient } from '../connect/flags.ts';
import { age } from '../node/spoken.ts';
import { type Column, formatFlag, show, table } from '../output/output.ts';
import { printableLines } from '../output/printable.ts';
import { readFleet } from './fleet-objects.ts';
import { getRollout, readRules, revisionNumbered, revisionsOf, rolloutName, rolloutPositional } from './rollouts.ts';
import { nodesOf } from './view.ts';

/** The contract of `-o json`. */
interface Revision {
  revision: number;
  name: string;
  createdAt: string | null;
  /** `NAMESPACE/NAME:KEY@RV`. */
  copyOf: string;
  hash: string;
  /** Number of selected nodes that use the revision now. */
  nodes: number;
  role: 'current' | 'previous' | null;
}

export const rolloutHistory: Command = {
  describe: `Lists the revisions of a rollout, newest first, and how many selected nodes use each now. A revision is the immutable copy of the ConfigMap that nodes are assigned. The newest spec.revisionHistoryLimit revisions are kept, and every revision that a node uses.

With --revision, prints the kubelet configuration of that revision, and with -o yaml its ConfigMap.`,
  examples: [
    { run: 'dkc rollout history web', what: '' },
    { run: 'dkc rollout history web --revision=2', what: 'what it holds' },
    { run: 'dkc rollout diff web --revision=2', what: 'what that revision would change' },
  ],
  flags: [{ name: 'revision', type: 'number', value: 'N', text: 'print this revision' }, ...connectFlags, formatFlag],
  positionals: [rolloutPositional],
  run: (context, args) =>
    withClient(context, args, async (client) => {
      const { signal, clock } = context;
      const name = rolloutName('rollout history', args);
      const rollout = await getRollout(client, name, 'show the history of', signal);
      const revisions = await revisionsOf(client, rollout, signal);
      const number = args.number('revision');
      if (number !== undefined) {
        const one = revisionNumbered(revisions, number, 'show', rollout);
        await show(context, args, { data: one, people: () => payloadText(one, rollout) });
        return fine;
      }
      const used = await usage(client, rollout, signal);
      const rows = revisions.map((one) => revisionData(one, rollout, used));
      await show(context, args, {
        data: rows,
        people: (how) => (rows.length === 0 ? 'No revisions yet.\n' : table(columns(clock.now()), rows, how)),
      });
      return fine;
    }),
};

/** Number of selected nodes that use each ConfigMap now, by its name. */
async function usage(
  client: Parameters<typeof readFleet>[0],
  rollout: NodeConfigRollout,
  signal: AbortSignal,
): Promise<Map<string, number>> {
  const rules = readRules(rollout);
  const used = new Map<string, number>();
  for (const { active } of nodesOf(rollout, rules, await readFleet(client, signal)))
    if (active !== null && active.namespace === rules.configMap.namespace) used.set(active.name, (used.get(active.name) ?? 0) + 1);
  return used;
}

function revisionData(one: ConfigMap, { spec, status }: NodeConfigRollout, used: ReadonlyMap<string, number>): Revision {
  const { name = '', creationTimestamp, annotations } = one.metadata;
  return {
    revision: numberOf(one),
    name,
    createdAt: creationTimestamp ?? null,
    copyOf: annotations?.[COPY_OF_ANNOTATION] ?? '',
    hash: contentHash(one, keyOf(one, spec?.configMap?.kubeletConfigKey ?? '')),
    nodes: used.get(name) ?? 0,
    role: name === status?.revision ? 'current' : name === status?.previousRevision ? 'previous' : null,
  };
}

const columns = (now: Millis): Column<Revision>[] => [
  { title: 'REVISION', value: ({ revision }) => String(revision) },
  { title: 'NAME', value: ({ name }) => name },
  { title: 'AGE', value: ({ createdAt }) => age(createdAt, now) },
  { title: 'NODES', value: ({ nodes }) => String(nodes) },
  { title: 'ROLE', value: ({ role }) => role ?? '' },
  { title: 'COPY OF', value: ({ copyOf }) => copyOf },
  { title: 'HASH', value: ({ hash }) => hash, wide: true },
];

function payloadText(one: ConfigMap, { spec }: NodeConfigRollout): string {
  const text = one.data?.[keyOf(one, spec?.configMap?.kubeletConfigKey ?? '')] ?? '';
  return printableLines(text.endsWith('\n') ? text : `${text}\n`);
}
