import { controllerRevisions, daemonSets, type KubeObject, nodes, pods, type Resource } from '../../kube/api/object.ts';
import { eventsAbout, getNamed, listAll, type NamedRef, readRef, showExplained } from '../explain/find-object.ts';
import { ActionError, nearest } from '../../base/errors.ts';
import { type Command, fine } from '../command.ts';
import { connectFlags, namespaceFlag, withClient } from '../connect/flags.ts';
import { formatFlag } from '../output/output.ts';
import { type Explained, explainSet, type SetInCluster } from '../../controllers/daemonset/explain.ts';
import type { RecordedEvent } from '../../controllers/common/events.ts';
import type { Millis } from '../../base/clock.ts';
import type { Revision } from '../../controllers/common/history/contract.ts';
import type { DaemonSet, Node, Placement, Pod } from '../../controllers/common/types.ts';
import type { Client } from '../../kube/client/client.ts';

/** Explains with the controller's own decision; pure. */
type ExplainSet = (seen: SetInCluster) => readonly Explained[];

/** `dkc why daemonset`, explained by `explain`. */
const whyDaemonSet = (explain: ExplainSet): Command => ({
  describe: `Explains, node by node, which pod a DaemonSet has there, what it waits for, and why. Computes what the controller would decide from the current objects in the API server. Read-only; needs no running controller.

Rights: get and list daemonsets, list pods, controllerrevisions and events in the namespace (pods in all, with --daemonset-placement=controller), list nodes.`,
  examples: [
    { run: 'dkc why daemonset kube-system/proxy', what: 'all nodes' },
    { run: 'dkc why ds/proxy -n kube-system', what: 'the same' },
    { run: 'dkc why daemonset kube-system/proxy --node=node-a', what: 'why is it not on this one?' },
    { run: 'dkc why daemonset kube-system/proxy -o json', what: 'for scripts' },
  ],
  flags: [
    { name: 'node', type: 'string', value: 'NAME', completes: 'node', text: 'only this node', defaultText: 'all' },
    {
      name: 'daemonset-placement',
      type: 'string',
      value: 'WHO',
      choices: ['scheduler', 'controller'],
      default: 'scheduler',
      text: 'the same as for the controller',
    },
    namespaceFlag,
    ...connectFlags,
    formatFlag,
  ],
  positionals: [{ name: 'name', text: 'NAME or NS/NAME', required: true, completes: 'daemonset' }],
  async run(context, args) {
    const { namespace, name } = await readRef(context, args, 'why daemonset');
    const placement: Placement = args.text('daemonset-placement') === 'controller' ? 'controller' : 'scheduler';
    const query = { namespace, name, placement, now: () => context.clock.now() };
    const seen = await withClient(context, args, (client) => readSet(client, query, context.signal));
    const found = ofNode(explain(seen), args.text('node'), seen);
    const nothing = `no node is relevant to DaemonSet ${namespace}/${name}`;
    await showExplained(context, args, found, { title: 'NODE', nothing });
    return fine;
  },
});

function ofNode(explained: readonly Explained[], node: string | undefined, { set, nodes }: SetInCluster): readonly Explained[] {
  if (node === undefined || node === '') return explained;
  const found = explained.filter(({ object }) => object === node);
  const names = nodes.map(({ metadata }) => metadata.name ?? '');
  if (found.length > 0 || names.includes(node)) return found;
  const meant = nearest(node, names);
  const { namespace = '', name = '' } = set.metadata;
  throw new ActionError('explain', `DaemonSet ${namespace}/${name} on node ${node}`, {
    hint: `no such node${meant === undefined ? '; dkc nodes lists all' : `; did you mean ${meant}?`}`,
  });
}

/** The command in production. */
export const whyDaemonSetCommand: Command = whyDaemonSet(explainSet);

export type SetQuery = NamedRef & { placement: Placement; now: () => Millis };

/** @throws {ActionError} if there is no such set, with a suggestion */
async function readSet(client: Pick<Client, 'get' | 'listEach'>, query: SetQuery, signal: AbortSignal): Promise<SetInCluster> {
  const { namespace, placement, now } = query;
  const all = <T extends KubeObject>(resource: Resource, within: { namespace?: string } = { namespace }): Promise<T[]> =>
    listAll(client, resource, within, signal);
  // The set is read first: pods and revisions read later then show at least what the status of the set reports.
  const set = await getNamed<DaemonSet>(client, daemonSets, query, signal);
  const [podsThere, nodesThere, revisions, events] = await Promise.all([
    all<Pod>(pods, placement === 'controller' ? {} : { namespace }),
    all<Node>(nodes, {}),
    all<Revision>(controllerRevisions),
    eventsAbout<RecordedEvent>(client, set, signal),
  ]);
  return { set, nodes: nodesThere, pods: podsThere, revisions, events, now: now(), placement };
}
