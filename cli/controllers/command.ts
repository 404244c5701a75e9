import { daemonSetController } from '../../controllers/daemonset/controller.ts';
import { statefulSetController } from '../../controllers/statefulset/controller.ts';
import { controllersFlags } from './flags.ts';
import { runControllers } from './run.ts';
import { controllersSettings } from './settings.ts';
import type { Command } from '../command.ts';

export const controllersRun: Command = {
  describe: `Runs controllers in place of those of kube-controller-manager, which must then be told to leave them out: --controllers=*,-daemonset,-statefulset. Of several processes the one that holds the lease works; the others stand by with full caches.

Prints one line of JSON when every cache is filled and the lease is held: ready, the address of its metrics, and its pid. Until then it waits, and tries again what fails; /readyz and the log say what it waits for. Ends with 0 on SIGTERM and SIGINT, with 1 when the lease is lost: start it again then.`,
  examples: [
    { run: 'dkc controllers run', what: 'in a pod, by its service account' },
    { run: 'dkc controllers run --kubeconfig=/etc/dkc/controllers.conf', what: 'as a unit beside the API server' },
    { run: 'dkc controllers run --controllers=statefulset', what: 'StatefulSets alone; kube-controller-manager keeps DaemonSets' },
    { run: 'dkc controllers run --namespace=team-a --leader-elect-resource-name=dkc-team-a', what: 'one namespace, with a lease for it' },
    { run: 'dkc controllers run --object-selector=example.com/by=dkc', what: 'only sets that are labelled so' },
  ],
  flags: controllersFlags,
  positionals: [],
  run: (context, args) =>
    runControllers(context, controllersSettings(args), { daemonset: daemonSetController, statefulset: statefulSetController }),
};
