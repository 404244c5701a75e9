import {
  applyDefaults,
  closestKubeletVersion,
  compareConfigs,
  decode,
  type Difference,
  newestKubeletVersion,
} from '../../agent/config/config.ts';
import type { JsonObject, KubeletVersion } from '../../agent/config/contract.ts';
import { sourceText } from '../../agent/checkpoint/source.ts';
import { ActionError } from '../../base/errors.ts';
import type { RolloutNode } from '../../controllers/rollout/node.ts';
import { type ConfigMap, keyOf } from '../../controllers/rollout/revision.ts';
import { namesOf, nodesText } from '../../controllers/rollout/text.ts';
import { configMaps } from '../../kube/api/object.ts';
import type { Client } from '../../kube/client/client.ts';
import { isNotFound } from '../../kube/client/errors.ts';
import { type Command, fine, wrong } from '../command.ts';
import { classPaint, valueText } from '../config/diff.ts';
import { connectFlags, withClient } from '../connect/flags.ts';
import { formatFlag, type People, show, table } from '../output/output.ts';
import { printable } from '../output/printable.ts';
import { readFleet } from './fleet-objects.ts';
import { reader } from './preview.ts';
import { getRollout, readRules, revisionNumbered, revisionsOf, rolloutName, rolloutPositional } from './rollouts.ts';
import { nodesOf } from './view.ts';

/** Reads the ConfigMap. @throws ActionError if it does not exist; ApiError, TransportError */
async function sourceOf(client: Client, ref: { namespace: string; name: string }, signal: AbortSignal): Promise<ConfigMap> {
  try {
    return await client.get<ConfigMap>(configMaps, ref, { signal });
  } catch (error) {
    if (!isNotFound(error)) throw error;
    throw new ActionError('read', `ConfigMap ${ref.namespace}/${ref.name}`, {
      hint: 'it does not exist; --revision=N compares with a copy',
    });
  }
}

/** Nodes of one kubelet version that use the same configuration. The contract of `-o json`. */
interface Group {
  nodes: readonly string[];
  kubeletVersion: string;
  /** `local`, or the ConfigMap that the nodes use. */
  uses: string;
  differences: readonly Difference[];
}

export const rolloutDiff: Command = {
  describe: `Compares the configuration that the selected nodes use now with a revision, or by default with the current content of the ConfigMap that the rollout names; field by field, with the defaults of the kubelet version filled in. Nodes that use the same configuration are shown together. CLASS is the risk of the change: safe, needs-drain, dangerous, node-specific.

The API server does not have the local configurations of nodes: for a node that runs its local configuration, the revision is compared with the kubelet's defaults. Exits with 1 if anything differs.`,
  examples: [
    { run: 'dkc rollout diff web', what: 'what is still to change' },
    { run: 'dkc rollout diff web --revision=2', what: 'what dkc rollout undo --to-revision=2 would change' },
    { run: 'dkc rollout diff web -o json', what: 'for scripts' },
  ],
  flags: [
    { name: 'revision', type: 'number', value: 'N', text: 'number of the revision', defaultText: 'the ConfigMap as it is now' },
    ...connectFlags,
    formatFlag,
  ],
  positionals: [rolloutPositional],
  run: (context, args) =>
    withClient(context, args, async (client) => {
      const { signal } = context;
      const name = rolloutName('rollout diff', args);
      const rollout = await getRollout(client, name, 'compare', signal);
      const rules = readRules(rollout);
      const { namespace, name: source, kubeletConfigKey } = rules.configMap;
      const read = reader(client, signal);
      const number = args.number('revision');
      const to = number === undefined ? await sourceOf(client, { namespace, name: source }, signal) : revisionNumbered(await revisionsOf(client, rollout, signal), number, 'compare', rollout); // prettier-ignore
      const key = number === undefined ? kubeletConfigKey : keyOf(to, kubeletConfigKey);
      const title = sourceText({ namespace, name: to.metadata.name ?? '', kubeletConfigKey: key });
      const nodes = nodesOf(rollout, rules, await readFleet(client, signal));
      const groups: Group[] = [];
      for (const of of Map.groupBy(nodes, groupKey).values()) {
        const [first] = of;
        if (first === undefined) continue;
        const used = first.active === null ? undefined : await read(first.active.namespace, first.active.name);
        groups.push(groupOf(of, first, { used, to, key, title }));
      }
      await show(context, args, { data: groups, people: (how) => groupsText(groups, title, how) });
      const different = groups.filter(({ differences }) => differences.length > 0).reduce((sum, { nodes: of }) => sum + of.length, 0);
      return different === 0 ? fine : wrong(`${nodesText(different)} of ${nodes.length} would change with ${title}`);
    }),
};

const groupKey = ({ active, kubeletVersion }: RolloutNode): string => JSON.stringify([kubeletVersion, active]);

interface Sides {
  used: ConfigMap | undefined;
  to: ConfigMap;
  key: string;
  title: string;
}

function groupOf(nodes: readonly RolloutNode[], { active, kubeletVersion }: RolloutNode, { used, to, key, title }: Sides): Group {
  const version = versionOf(kubeletVersion);
  const from = active === null ? {} : used === undefined ? undefined : writtenOf(used, active.kubeletConfigKey, version);
  const after = writtenOf(to, key, version);
  if (after === undefined)
    throw new ActionError('compare', title, { hint: `kubelet ${version.text} rejects it; dkc rollout status shows why` });
  return {
    nodes: nodes.map(({ node }) => node),
    kubeletVersion,
    uses: sourceText(active),
    // A configuration that can no longer be read is treated as empty.
    differences: compareConfigs(applyDefaults(from ?? {}, version), applyDefaults(after, version), { byKey: true }),
  };
}

function writtenOf(object: ConfigMap, key: string, version: KubeletVersion): JsonObject | undefined {
  const decoded = decode(new TextEncoder().encode(object.data?.[key] ?? ''), version);
  return decoded.ok ? decoded.written : undefined;
}

/** An unknown version is compared as the newest known one. */
function versionOf(text: string): KubeletVersion {
  try {
    return closestKubeletVersion(text).version;
  } catch {
    return newestKubeletVersion;
  }
}

async function groupsText(groups: readonly Group[], title: string, how: People): Promise<string> {
  if (groups.length === 0) return 'The rollout selects no nodes.\n';
  const parts = await Promise.all(
    groups.map(async ({ nodes, kubeletVersion, uses, differences }) => {
      const who = how.wide ? nodes.join(', ') : namesOf(nodes);
      const of = uses === 'local' ? 'their local configuration, compared as if it were empty' : uses;
      const head = printable(`${nodesText(nodes.length)} (${who}), kubelet ${kubeletVersion || 'unknown'}, from ${of} to ${title}:`);
      if (differences.length === 0) return `${head}\nnothing changes\n`;
      const lines = await table(
        [
          { title: 'FIELD', value: ({ field }) => field },
          { title: 'CLASS', value: (one) => one.class, paint: (cell, one, paint) => classPaint(one.class, paint)(cell) },
          { title: 'FROM', value: ({ from }) => valueText(from, how.wide) },
          { title: 'TO', value: ({ to }) => valueText(to, how.wide) },
        ],
        differences,
        how,
      );
      return `${head}\n${lines}`;
    }),
  );
  return parts.join('\n');
}
