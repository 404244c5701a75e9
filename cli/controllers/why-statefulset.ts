import { fine, type Command } from '../command.ts';
import { connectFlags, namespaceFlag } from '../connect/flags.ts';
import { withClient } from '../connect/with-client.ts';
import { formatFlag } from '../output/output.ts';
import { explainStatefulSet } from './explain-stateful-set.ts';
import { readRef } from '../explain/find-object.ts';
import { showExplained, type Explained } from '../explain/show-explained.ts';
import { readStatefulSet, type StatefulSetInCluster } from './stateful-set-in-cluster.ts';

/** Asks the controller's own decision; pure. */
export type ExplainStatefulSet = (seen: StatefulSetInCluster) => readonly Explained[];

/** `dkc why statefulset`, told by `explain`. */
export const whyStatefulSet = (explain: ExplainStatefulSet): Command => ({
  describe: `Explains what a StatefulSet waits for, then the state of each of its pods. Computes what the controller would decide from the current objects in the API server. Read-only; needs no running controller.

Rights: get and list statefulsets, list pods, persistentvolumeclaims and controllerrevisions in the namespace; list storageclasses for a set with dkc.dev/expand-claims.`,
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

/** What `dkc` runs. */
export const whyStatefulSetCommand: Command = whyStatefulSet(explainStatefulSet);
