import { optInsOf } from '../../controllers/statefulset/rules.ts';
import {
  controllerRevisions,
  type KubeObject,
  persistentVolumeClaims,
  pods,
  type Resource,
  statefulSets,
  storageClasses,
} from '../../kube/api/object.ts';
import { eventsAbout, type Explained, getNamed, listAll, type NamedRef, readRef, showExplained } from '../explain/find-object.ts';
import { type Command, fine } from '../command.ts';
import { connectFlags, namespaceFlag, withClient } from '../connect/flags.ts';
import { formatFlag } from '../output/output.ts';
import { explainStatefulSet, type StatefulSetInCluster } from '../../controllers/statefulset/explain.ts';
import type { RecordedEvent } from '../../controllers/common/events.ts';
import type { Millis } from '../../base/clock.ts';
import type { Revision } from '../../controllers/common/history/contract.ts';
import type { Pod, Pvc, StatefulSet, StorageClass } from '../../controllers/common/types.ts';
import type { Client } from '../../kube/client/client.ts';

/** Explains with the controller's own decision; pure. */
type ExplainStatefulSet = (seen: StatefulSetInCluster) => readonly Explained[];

/** `dkc why statefulset`, explained by `explain`. */
const whyStatefulSet = (explain: ExplainStatefulSet): Command => ({
  describe: `Explains what a StatefulSet waits for, then the state of each of its pods. Computes what the controller would decide from the current objects in the API server. Read-only; needs no running controller.

Rights: get and list statefulsets, list pods, persistentvolumeclaims, controllerrevisions and events in the namespace; list storageclasses for a set with dkc.dev/expand-claims.`,
  examples: [
    { run: 'dkc why statefulset shop/db', what: 'why is the rollout stuck?' },
    { run: 'dkc why sts -n shop db', what: 'the same' },
    { run: 'dkc why statefulset shop/db -o json', what: 'for scripts' },
  ],
  flags: [namespaceFlag, ...connectFlags, formatFlag],
  positionals: [{ name: 'name', text: 'NAME or NS/NAME', required: true, completes: 'statefulset' }],
  async run(context, args) {
    const ref = await readRef(context, args, 'why statefulset');
    const query = { ...ref, now: () => context.clock.now() };
    const seen = await withClient(context, args, (client) => readStatefulSet(client, query, context.signal));
    const nothing = `StatefulSet ${ref.namespace}/${ref.name} has no pods and needs none`;
    await showExplained(context, args, explain(seen), { title: 'OBJECT', nothing });
    return fine;
  },
});

/** The command in production. */
export const whyStatefulSetCommand: Command = whyStatefulSet(explainStatefulSet);

export type StatefulSetQuery = NamedRef & { now: () => Millis };

/** @throws {ActionError} if there is no such set, with a suggestion */
async function readStatefulSet(
  client: Pick<Client, 'get' | 'listEach'>,
  query: StatefulSetQuery,
  signal: AbortSignal,
): Promise<StatefulSetInCluster> {
  const { namespace, now } = query;
  const all = <T extends KubeObject>(resource: Resource, within: { namespace?: string } = { namespace }): Promise<T[]> =>
    listAll(client, resource, within, signal);
  // The set is read first: pods and revisions read later then show at least what the status of the set reports.
  const set = await getNamed<StatefulSet>(client, statefulSets, query, signal);
  const [podsThere, claims, revisions, classes, events] = await Promise.all([
    all<Pod>(pods),
    all<Pvc>(persistentVolumeClaims),
    all<Revision>(controllerRevisions),
    // A user with rights in a namespace may lack the right to list StorageClasses, so they are read only if needed.
    optInsOf(set.metadata.annotations).expandClaims ? all<StorageClass>(storageClasses, {}) : [],
    eventsAbout<RecordedEvent>(client, set, signal),
  ]);
  return { set, pods: podsThere, claims, revisions, classes, events, now: now() };
}
