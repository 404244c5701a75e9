import { dirname } from 'node:path';
import { findRef, type Found, type KnownRef } from '../../agent/admin/refs.ts';
import { type AdminDeps, observeNode, requireStore } from '../../agent/admin/observe.ts';
import type { AdminFacts } from '../../agent/admin/facts.ts';
import type { AgentOptions } from '../../agent/options.ts';
import { FsStore } from '../../agent/store/fs-store.ts';
import { layout, type Layout } from '../../agent/store/layout.ts';
import type { Disk } from '../../base/disk.ts';
import { ActionError } from '../../base/errors.ts';
import { type NodeFlag, nodeFlags, nodeFlagsFor } from '../agent/flags.ts';
import { UsageError } from '../failure.ts';
import { nodeOptions } from '../agent/node-options.ts';
import { formatFlag } from '../output/output.ts';
import type { Args } from '../args/args.ts';
import { type Command, type Context, fine, type Flag, type Positional } from '../command.ts';
import { helpText } from '../help/help.ts';

/** Options and store of this node, for every command on the store. */
export interface NodeSide {
  options: AgentOptions;
  store: FsStore;
  paths: Layout;
  /** Reads the disk again. @throws ActionError without a store, or without permission to read it */
  observe(how?: Pick<AdminDeps, 'needsLocal'>): Promise<AdminFacts>;
  /** A store in another directory, for rehearsals. */
  storeAt(root: string): FsStore;
}

/** `-o`, and the flags that select node and store. @param heeded - node flags that help lists, besides those of the store */
export function nodeSideFlags(heeded: readonly NodeFlag[] = [], texts: Partial<Record<NodeFlag, string>> = {}): readonly Flag[] {
  return [formatFlag, ...nodeFlagsFor(['dynamic-config-dir', ...heeded], texts)];
}

export const refPositional: Positional = {
  name: 'ref',
  text: 'UID/RV or a unique prefix, as shown by `checkpoints list`; [NAMESPACE/]NAME[:KEY][@RV], the newest without @RV; or assigned, last-known-good, active',
  completes: 'ref',
};

export async function nodeSide(context: Context, args: Args): Promise<NodeSide> {
  const options = await nodeOptions(context, args);
  const { disk, scanDisk = disk, locks, clock, log } = context;
  // The volatile directory stands in for this node's disk when writes fail; a store in another directory, for rehearsals, has none.
  const volatile = (root: string) => (root === options.dynamicConfigDir ? { volatileDir: dirname(options.kubeletExits) } : {});
  const storeOn = (disk: Disk, root: string): FsStore =>
    new FsStore({
      disk,
      locks,
      root,
      clock,
      ...volatile(root),
      onDamage: (path, problem) => log.warn('damaged file set aside', { path, problem }),
    });
  const { dynamicConfigDir, effectiveConfig, localConfig, kubeletExits } = options;
  const scanned = storeOn(scanDisk, dynamicConfigDir);
  // Before any lock is taken: a lock creates its file, and a directory that is not a store must stay unchanged.
  await requireStore(disk, dynamicConfigDir);
  return {
    options,
    store: storeOn(disk, dynamicConfigDir),
    paths: layout(dynamicConfigDir),
    observe: (how) => observeNode({ store: scanned, disk: scanDisk, dynamicConfigDir, effectiveConfig, localConfig, kubeletExits, ...how }),
    storeAt: (root) => storeOn(disk, root),
  };
}

/**
 * The checkpoint or local config that a REF names.
 * @param known - additional checkpoints that are not in the store
 * @throws UsageError if it matches several, ActionError if it matches none
 */
export function resolveRef(ref: string, facts: AdminFacts, known: readonly KnownRef[] = []): Extract<Found, { at: 'found' | 'local' }> {
  const found = findRef(ref, facts, known);
  if (found.at === 'ambiguous') throw new UsageError(`REF ${ref}: ${found.why}`);
  if (found.at === 'none') throw new ActionError('find', `checkpoint ${JSON.stringify(ref)}`, { hint: found.why });
  return found;
}

export function isoNow(context: Pick<Context, 'clock'>): string {
  return new Date(context.clock.now()).toISOString();
}

/** The help topic `dkc help node-flags`. */
export const nodeFlagsTopic: Command = {
  describe: [
    'Commands on a node use the settings of its agent: they read /etc/dkc/agent.yaml, or the file that ' +
      '--agent-config names; flags win. Each of these commands accepts all flags below; its own help lists those that have an effect.',
    'Commands on files (validate, diff, render FILE) work without agent.yaml, even if this user may not read it.',
  ].join('\n\n'),
  examples: [
    { run: 'dkc node-flags', what: 'this list' },
    { run: 'dkc status --agent-config=/tmp/dkc-demo/agent.yaml', what: 'the node of another agent, such as that of dkc demo --keep' },
    { run: 'dkc history --dynamic-config-dir=/mnt/var/lib/dkc', what: 'a store on a mounted disk of another machine' },
  ],
  flags: nodeFlags,
  positionals: [],
  async run(context) {
    context.stdout.write(helpText({ name: 'node-flags', below: [] }, nodeFlagsTopic, nodeFlags, context.stdout.columns ?? HELP_WIDTH));
    return fine;
  },
};

const HELP_WIDTH = 100;
