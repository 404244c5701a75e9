import { connectFlags, namespaceFlag, withClient } from '../connect/flags.ts';
import { explainSettled, explainFacts } from './explain-pod.ts';
import {
  csiDrivers,
  csiNodes,
  csiStorageCapacities,
  deviceClasses,
  type KubeObject,
  namespaces,
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  podDisruptionBudgets,
  podDisruptionBudgetsBeta,
  pods,
  replicaSets,
  replicationControllers,
  type Resource,
  services,
  statefulSets,
  storageClasses,
  volumeAttachments,
} from '../../kube/api/object.ts';
import { isNotFound } from '../../kube/client/errors.ts';
import { getNamed, listAll, type NamedRef, readRef, showExplained } from '../explain/find-object.ts';
import { ActionError, describeError } from '../../base/errors.ts';
import { UsageError } from '../failure.ts';
import { type Command, type Context, fine } from '../command.ts';
import { formatFlag } from '../output/output.ts';
import { configFlag, fileText, findingText, readSchedulerConfigFile } from './config.ts';
import type { Client } from '../../kube/client/client.ts';
import type { ExplainPod, PodFacts, RunningFacts } from '../../scheduler/explain.ts';
import type { PendingDump } from '../../scheduler/queue/contract.ts';
import type { ReservationView } from '../../scheduler/reservation/reporting.ts';
import type { SchedulerConfig } from '../../scheduler/config/config.ts';
import type { Pod } from '../../scheduler/types.ts';

/** `dkc why pod`, explained by the decision that `load` returns. */
const whyPod = (load: () => Promise<ExplainPod>): Command => ({
  describe: `Explains why a pod is not scheduled. Computes what the scheduler would decide from the current objects in the API server. For each reason it prints how many nodes have it, and some of their names. Read-only; needs no running scheduler.

Reservations for pods that are updated, and when the pod is retried, are known only to the running scheduler. With --debug-address it is asked; it must have been started with --debug, and dkc must run on its machine.

Rights: get and list pods; for a pending pod also list nodes, namespaces, services, replicationcontrollers, replicasets, statefulsets, poddisruptionbudgets, persistentvolumes, persistentvolumeclaims, storageclasses, csinodes, csidrivers, csistoragecapacities, volumeattachments and deviceclasses.`,
  examples: [
    { run: 'dkc why pod shop/db-1', what: 'why is it pending?' },
    { run: 'dkc why pod/db-1 -n shop', what: 'the same' },
    {
      run: 'dkc why pod shop/db-1 --config=/etc/dkc-scheduler/config.yaml',
      what: 'with the configuration of the scheduler that should place it',
    },
    { run: 'dkc why pod shop/db-1 --debug-address=127.0.0.1:10462', what: 'also reservations, and when it is retried' },
    { run: 'dkc why pod shop/db-1 -o json', what: 'for scripts' },
  ],
  flags: [
    configFlag,
    {
      name: 'debug-address',
      type: 'string',
      value: 'HOST:PORT',
      text: "address of the running scheduler's debug endpoint",
      defaultText: 'not asked',
    },
    namespaceFlag,
    ...connectFlags,
    formatFlag,
  ],
  positionals: [{ name: 'name', text: 'NAME or NS/NAME', required: true, completes: 'pod' }],
  async run(context, args) {
    const ref = await readRef(context, args, 'why pod');
    const config = await configOf(context, args.text('config'));
    const address = args.text('debug-address') ?? '';
    const { signal } = context;
    const found = await withClient(context, args, async (client) => {
      const pod = await getNamed<Pod>(client, pods, ref, signal);
      const settled = explainSettled(pod, config);
      if (settled !== undefined) return [settled];
      const [cluster, running, explain] = await Promise.all([
        readCluster(client, signal),
        address === '' ? undefined : readScheduler(address, ref, signal),
        load(),
      ]);
      const facts = { ...cluster, pod, config, running, now: context.clock.now() };
      return [...explain(facts), ...explainFacts(facts)];
    });
    await showExplained(context, args, found, {
      title: 'OBJECT',
      nothing: `pod ${ref.namespace}/${ref.name} is waiting in the queue`,
      about: `${ref.namespace}/${ref.name}`,
    });
    return fine;
  },
});

async function configOf(context: Context, file: string | undefined): Promise<SchedulerConfig> {
  const read = await readSchedulerConfigFile(context, file);
  if (read.ok) return read.config;
  const [first] = read.problems;
  throw new ActionError('use', fileText(file), {
    hint: `${first === undefined ? '' : findingText(first)}; run dkc scheduler config for all errors`,
  });
}

/** The command in production. */
export const whyPodCommand: Command = whyPod(async () => (await import('../../scheduler/explain.ts')).explainPod);

const PATIENCE_MS = 5_000;

/**
 * Reads a pod's state in the queue and all reservations from the running scheduler.
 * @param address - `HOST:PORT` or a URL, of a process that was started with `--debug`
 * @throws {ActionError} if the request fails
 */
async function readScheduler(address: string, { namespace, name }: NamedRef, signal: AbortSignal): Promise<RunningFacts> {
  const url = address.includes('://') ? address : `http://${address}`;
  if (!URL.canParse(url))
    throw new UsageError(`why pod: --debug-address must be HOST:PORT, such as 127.0.0.1:10462; see dkc why pod --help`);
  const [reservations, queue] = await Promise.all([
    read<ReservationView[]>(url, 'reservations', signal),
    read<PendingDump>(url, 'scheduler-queue', signal),
  ]);
  const { pools, inFlight, pods } = queue;
  const all = Object.values(pools).reduce((sum, size) => sum + size, inFlight);
  return {
    reservations,
    pending: pods.find((pod) => pod.namespace === namespace && pod.name === name),
    unlisted: Math.max(0, all - pods.length),
  };
}

async function read<T>(url: string, dump: string, signal: AbortSignal): Promise<T> {
  const from = new URL(`/debug/${dump}`, url).href;
  try {
    const answer = await fetch(from, { signal: AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]) });
    if (!answer.ok) throw new Error(`HTTP status ${answer.status}`);
    return (await answer.json()) as T;
  } catch (cause) {
    signal.throwIfAborted();
    const hint = `${describeError(cause)}; it must be the address of a scheduler started with --debug, on the same machine`;
    throw new ActionError('read', from, { hint, cause });
  }
}

type Cluster = Omit<PodFacts, 'pod' | 'config' | 'running' | 'now'>;

const beta = (resource: Resource): Resource => ({ ...resource, version: 'v1beta1' });

/** All objects that scheduling a pod depends on; lists each kind once. */
export async function readCluster(client: Pick<Client, 'listEach'>, signal: AbortSignal): Promise<Cluster> {
  const all = <T extends KubeObject>(resource: Resource, within = {}): Promise<T[]> => listAll<T>(client, resource, within, signal);
  /** Lists the first version that the server serves; empty if it serves none. */
  const served = async <T extends KubeObject>(first: Resource, ...others: readonly Resource[]): Promise<T[]> => {
    try {
      return await all<T>(first);
    } catch (error) {
      if (!isNotFound(error)) throw error;
      const [next, ...more] = others;
      return next === undefined ? [] : served<T>(next, ...more);
    }
  };
  const living = { fieldSelector: 'status.phase!=Succeeded,status.phase!=Failed' };
  // All lists run concurrently: one after the other, the lists would show different states of the cluster.
  const lists = {
    pods: all(pods, living),
    nodes: all(nodes),
    namespaces: all(namespaces),
    services: all(services),
    replicationControllers: all(replicationControllers),
    replicaSets: all(replicaSets),
    statefulSets: all(statefulSets),
    budgets: served(podDisruptionBudgets, podDisruptionBudgetsBeta),
    deviceClasses: served(deviceClasses),
    claims: all(persistentVolumeClaims),
    volumes: all(persistentVolumes),
    storageClasses: all(storageClasses),
    csiNodes: served(csiNodes, beta(csiNodes)),
    csiDrivers: served(csiDrivers, beta(csiDrivers)),
    capacities: served(csiStorageCapacities, beta(csiStorageCapacities)),
    attachments: served(volumeAttachments, beta(volumeAttachments)),
  } satisfies Record<keyof Cluster, Promise<KubeObject[]>>;
  const names = Object.keys(lists) as (keyof Cluster)[];
  const found = await Promise.all(names.map((name) => lists[name]));
  return Object.fromEntries(names.map((name, at) => [name, found[at]])) as unknown as Cluster;
}
