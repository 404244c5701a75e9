import { failed, ok, skipped, someOf, the, warning, type Check, type Seen, type Verdict } from '../check.ts';
import { RUN_CONTROLLER } from '../../../deploy/deployments.ts';
import type { Pair } from './roles.ts';
import { durationOf, holderOf, type Lease } from '../../../kube/election/lease.ts';
import type { Millis } from '../../../base/clock.ts';

export interface ControllerFacts {
  /** `dkc-system/dkc-rollout`: the lease of the Deployment. */
  rolloutLease: Seen<Lease | undefined>;
  /** `kube-system/dkc-controllers`: the lease of controllers that run without flags. */
  controllersLease: Seen<Lease | undefined>;
  /** `dkc-system/dkc-controllers`: the lease of the Deployment of the set controllers. */
  setsLease: Seen<Lease | undefined>;
  hasRollouts: Seen<boolean>;
  /** kube-controller-managers that run as pods, with their `--controllers`; '' without this flag. */
  managers: Seen<readonly { pod: string; controllers: string }[]>;
  /** Empty if no Deployment of dkc runs, or the server does not serve the kind. */
  flowControl: Seen<readonly Pair[]>;
  /** Time of the API server, which decides whether a lease has expired. */
  now: Millis;
}

/** Lease duration if the Lease has no valid one. */
const LEASE_MS: Millis = 15_000;
/** A holder renews every 2 s; a lease that was not renewed for this many lease durations has no holder. */
const STALE = 2;

export const controllerChecks: readonly Check<ControllerFacts>[] = [
  { name: 'rollout-controller', wants: 'if there are rollouts, a rollout controller holds its Lease', decide: rolloutController },
  {
    name: 'set-controllers',
    wants: 'either dkc or kube-controller-manager manages DaemonSets and StatefulSets, not both',
    decide: setControllers,
  },
  { name: 'flow-control', wants: 'agents and controllers have their own FlowSchemas', decide: flowControl },
];

function rolloutController({ rolloutLease, controllersLease, hasRollouts, now }: ControllerFacts): Verdict {
  const [rollout, all] = [the(rolloutLease), the(controllersLease)];
  const run = `dkc deploy manifests --image=IMAGE | kubectl apply -f -, or ${RUN_CONTROLLER}; if it is installed: kubectl -n dkc-system get pods, and the logs of these pods`;
  if (rollout && isHeld(rollout, now)) return ok(`${holderOf(rollout)} holds Lease dkc-system/dkc-rollout`);
  if (all && isHeld(all, now) && !rollout) return ok(`${holderOf(all)} holds Lease kube-system/dkc-controllers`);
  if (rollout) {
    const stale = `the Lease dkc-system/dkc-rollout ${holderOf(rollout) === '' ? 'has no holder' : `was renewed ${ageOf(rollout, now)} ago`}: no rollout makes progress`;
    return (the(hasRollouts) ? failed : warning)(stale, run);
  }
  return the(hasRollouts)
    ? failed('there are rollouts, but no rollout controller has ever held its Lease', run)
    : skipped('there are no rollouts, and no rollout controller');
}

function setControllers({ controllersLease, setsLease, managers, now }: ControllerFacts): Verdict {
  const leases = [
    { name: 'dkc-system/dkc-controllers', lease: the(setsLease) },
    { name: 'kube-system/dkc-controllers', lease: the(controllersLease) },
  ];
  const held = leases.find(({ lease }) => lease !== undefined && isHeld(lease, now));
  const pods = the(managers);
  const both = pods.filter(({ controllers }) => ['daemonset', 'statefulset'].some((name) => runs(controllers, name)));
  if (held === undefined) return withoutDkc(pods.length, both.length);
  const holder = held.lease === undefined ? '' : holderOf(held.lease);
  if (pods.length === 0)
    return skipped('no pod of kube-controller-manager is visible here; check that its --controllers includes -daemonset,-statefulset');
  if (both.length === 0) return ok(`${holder} holds Lease ${held.name}; kube-controller-manager runs neither of the two controllers`);
  const found = `${someOf(both.map(({ pod }) => pod))} runs the daemonset or statefulset controller, and ${holder} holds Lease ${held.name}`;
  const remedy = 'add -daemonset,-statefulset to --controllers of kube-controller-manager on every control plane node: docs/controllers.md';
  // Controllers outside the Deployment may run without the set controllers, or manage only some of the sets.
  return held.name.startsWith('dkc-system/')
    ? failed(`${found}: both create and delete pods of the same sets`, remedy)
    : warning(
        `${found}: unless dkc runs the rollout controller alone there, or manages other sets, both create and delete pods of the same sets`,
        remedy,
      );
}

function withoutDkc(managers: number, withSets: number): Verdict {
  if (managers === 0 || withSets > 0) return skipped('kube-controller-manager manages them: no dkc controllers hold their Lease');
  return failed(
    'neither kube-controller-manager nor dkc manages DaemonSets and StatefulSets: no pods are created for them',
    'check the pods of dkc controllers and their logs: kubectl -n dkc-system get pods; or remove -daemonset,-statefulset from --controllers of kube-controller-manager',
  );
}

/** Parses `*,-daemonset`: a controller is enabled by its name or `*`; `-` and its name disables it, and wins. */
function runs(controllers: string, name: string): boolean {
  const words = controllers === '' ? ['*'] : controllers.split(',').map((word) => word.trim());
  if (words.some((word) => word === `-${name}` || word === `-${name}-controller`)) return false;
  return words.some((word) => word === '*' || word === name || word === `${name}-controller`);
}

function flowControl({ flowControl }: ControllerFacts): Verdict {
  const pairs = the(flowControl);
  if (pairs.length === 0) return skipped('no controller runs here as a Deployment, or the API server is older than 1.29');
  const missing = pairs
    .filter(({ actual }) => the(actual) === undefined)
    .map(({ expected }) => `${expected.kind ?? ''} ${expected.metadata.name ?? ''}`);
  if (missing.length === 0) return ok(pairs.map(({ expected }) => expected.metadata.name ?? '').join(', '));
  return warning(`there is no ${someOf(missing)}`, 'dkc deploy manifests --image=IMAGE | kubectl apply -f -');
}

function isHeld(lease: Lease, now: Millis): boolean {
  return holderOf(lease) !== '' && now - renewed(lease) < STALE * durationOf(lease, LEASE_MS);
}

const renewed = (lease: Lease): Millis => Date.parse(lease.spec?.renewTime ?? '') || 0;

function ageOf(lease: Lease, now: Millis): string {
  const s = Math.round((now - renewed(lease)) / 1000);
  return renewed(lease) === 0 ? 'never' : s < 120 ? `${s} s` : `${Math.round(s / 60)} min`;
}
