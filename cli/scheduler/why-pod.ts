import { pods } from '../../kube/api/resources.ts';
import { ActionError } from '../../base/errors.ts';
import { fine, type Command, type Context } from '../command.ts';
import { connectFlags, namespaceFlag } from '../connect/flags.ts';
import { getNamed, readRef } from '../explain/find-object.ts';
import { showExplained } from '../explain/show-explained.ts';
import { withClient } from '../connect/with-client.ts';
import { formatFlag } from '../output/output.ts';
import { askScheduler } from './ask-scheduler.ts';
import { explainSettled, explainStanding } from './explain-pod.ts';
import { configFlag } from './flags.ts';
import { readCluster } from './pod-in-cluster.ts';
import { fileText, findingText, readSchedulerConfigFile } from './read-config.ts';
import type { SchedulerConfig } from '../../scheduler/config/config.ts';
import type { ExplainPod } from '../../scheduler/explain-facts.ts';
import type { Pod } from '../../scheduler/types.ts';

/** `dkc why pod`, told by `load`'s decision. */
export const whyPod = (load: () => Promise<ExplainPod>): Command => ({
  describe: `Explains why a pod is not scheduled. Computes what the scheduler would decide from the current objects in the API server. For each reason it prints how many nodes have it, and some of their names. Read-only; needs no running scheduler.

Reservations for pods that are updated, and when the pod is retried, are known only to the running scheduler. With --debug-address it is asked; it must have been started with --debug, and dkc must run on its machine.

Rights: get and list pods; for a pending pod also list nodes, namespaces, services, replicationcontrollers, replicasets, statefulsets, poddisruptionbudgets, persistentvolumes, persistentvolumeclaims, storageclasses, csinodes, csidrivers and csistoragecapacities.`,
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
        address === '' ? undefined : askScheduler(address, ref, signal),
        load(),
      ]);
      const facts = { ...cluster, pod, config, running, now: context.clock.now() };
      return [...explain(facts), ...explainStanding(facts)];
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

/** What `dkc` runs. */
export const whyPodCommand: Command = whyPod(async () => (await import('../../scheduler/explain.ts')).explainPod);
