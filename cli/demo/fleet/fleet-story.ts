import { ActionError, describeError } from '../../../base/errors.ts';
import type { Millis } from '../../../base/clock.ts';
import { type NodeConfigRollout, rollouts, type RolloutSpec, type RolloutStatus } from '../../../controllers/rollout/types.ts';
import { configMaps } from '../../../kube/api/object.ts';
import { progress, type Progress as Line } from '../../output/printable.ts';
import { configMap, KEY, NAMESPACE } from '../stage.ts';
import { type Context, type Exit, fine, wrong } from '../../command.ts';
import { aliasLine, Narrator } from '../narrator.ts';
import { buildFleet, type FleetStage, ROLLOUT } from './fleet-stage.ts';
import { once } from 'node:events';

/** `dkc demo --nodes=N`. @param keep - keeps everything running until Ctrl-C, as on a terminal @returns the exit code */
export async function fleetDemo(context: Context, count: number, keep: boolean): Promise<Exit> {
  const narrator = new Narrator(context);
  await using stage = await buildFleet(context, count);
  try {
    await fleetStory(context, stage, narrator);
  } catch (error) {
    context.signal.throwIfAborted();
    const { status } = stage.rollout.last ?? {};
    if (status?.message !== undefined) context.stderr.write(`NodeConfigRollout ${ROLLOUT}: ${status.phase}: ${status.message}\n`);
    return wrong(`the demo failed: ${describeError(error)}`);
  }
  context.stdout.write(`\nDone in ${narrator.seconds} s.\n`);
  if (!keep && !context.stdout.isTTY) return fine;
  context.stdout.write(`
Everything stays up until Ctrl-C. The fleet page: ${stage.pageUrl}

In another shell:

  export KUBECONFIG=${stage.kubeconfig}
  ${aliasLine()}
  kubectl get nodeconfigrollouts
  kubectl -n dkc-system edit configmap ${ROLLOUT}      # another rollout begins
  kubectl get nodeconfigs -w
  dkc rollout status ${ROLLOUT}
`);
  if (!context.signal.aborted) await once(context.signal, 'abort');
  return fine;
}

/** Timeout of each wait; with a few hundred nodes no step takes nearly as long. */
const PATIENCE: Millis = 600_000;
/** Interval of progress lines. */
const PROGRESS_MS: Millis = 5_000;

const spec: RolloutSpec = {
  nodeSelector: {},
  configMap: { namespace: NAMESPACE, name: ROLLOUT, kubeletConfigKey: KEY },
  steps: [{ nodes: 1 }, { nodes: '10%' }, { nodes: '50%' }, { nodes: '100%' }],
  maxUnavailable: '20%',
  failureBudget: 3,
  nodeDeadline: '2m',
};

/** Rolls out a good configuration to a fleet, then a bad one that is rolled back. @throws as soon as a step does not happen as described */
async function fleetStory(context: Context, stage: FleetStage, narrator: Narrator): Promise<void> {
  const { client, fleet, record, rollout } = stage;
  const { signal } = context;
  const count = fleet.nodes.length;
  /** The revision of the finished rollout: a status with this revision is not about the next one. */
  let before = '';
  const until = async (what: string, fits: (status: RolloutStatus) => boolean): Promise<RolloutStatus> => {
    const isEnd = ({ phase }: RolloutStatus): boolean => phase === 'Complete' || phase === 'RolledBack' || phase === 'Failed';
    const isOver = (status: RolloutStatus): boolean => isEnd(status) && status.revision !== before;
    const { status = {} } = await rollout.until(what, ({ status: now = {} }) => fits(now) || isOver(now), PATIENCE, signal);
    if (fits(status)) return status;
    throw new ActionError('observe', what, { hint: `the rollout is ${status.phase}: ${status.message}` });
  };

  narrator.step(`A fleet of ${count} nodes`);
  await fleet.start(signal);
  narrator.event(`${count} nodes of 2 pools in 3 zones, each with its agent; all run their local config, maxPods 110`);
  narrator.note(`the fleet page: ${stage.pageUrl}`);

  narrator.step('A good configuration');
  const good = configMap('good');
  await client.create(configMaps, { ...good, metadata: { ...good.metadata, name: ROLLOUT } }, { signal });
  const object: NodeConfigRollout = { apiVersion: 'dkc.dev/v1alpha1', kind: 'NodeConfigRollout', metadata: { name: ROLLOUT }, spec };
  await client.create(rollouts, object, { signal });
  narrator.event(`the admin creates ConfigMap ${NAMESPACE}/${ROLLOUT} with maxPods 120, and NodeConfigRollout ${ROLLOUT}:`);
  narrator.note(
    'steps 1, 10%, 50%, 100% of the nodes; at most 20% unavailable at once; 3 failed nodes stop it, and its nodes are rolled back',
  );
  using shown = new Progress(context, stage, narrator);
  const done = await until('the good rollout complete', ({ phase }) => phase === 'Complete');
  shown.pause();
  const { revision = '' } = done;
  before = revision;
  narrator.event(`complete: all ${count} nodes run ${revision}, which passed its trial on each`);
  narrator.note(`never more than ${record.peaks.unavailable} nodes unavailable at once; kubelets that crashed: ${fleet.crashed.size}`);
  within(record.peaks.unavailable, count, 'the good rollout');

  narrator.step('One that crashes the kubelets of some nodes');
  record.resetPeaks();
  const bad = configMap('deadly');
  await client.patch(configMaps, { name: ROLLOUT, namespace: NAMESPACE }, { data: bad['data'], metadata: { annotations: bad.metadata.annotations } }, { type: 'merge', signal }); // prettier-ignore
  narrator.event('the admin edits the ConfigMap: it now names a cgroup that nodes of pool batch do not have, which no validation can see');
  shown.resume();
  const stopped = await until('the bad rollout stopped', ({ stopped: why, revision: now }) => now !== revision && why !== undefined);
  shown.pause();
  const { failures = [], previousRevision, revision: rejected = '' } = stopped;
  narrator.event(
    `${failures.length} nodes failed, the failure budget is used up: no further node is touched, and those that have the revision are rolled back`,
  );
  for (const { node, error } of failures.slice(0, 3)) narrator.note(`${node}: ${error}`);
  if (previousRevision !== revision)
    throw new ActionError('confirm', 'that nodes go back to the good configuration', { hint: `they go to ${previousRevision}` });
  shown.resume();
  await until('the rollback of the nodes', ({ phase }) => phase === 'RolledBack');
  shown.pause();
  narrator.event(`rolled back: all ${record.assigned(revision)} nodes run ${revision} again`);
  const touched = record.touched.get(rejected)?.size ?? 0;
  narrator.note(
    `${touched} of ${count} nodes were ever assigned it; ${fleet.crashed.size} kubelets crashed, and their agents rolled back at once`,
  );
  narrator.note(`never more than ${record.peaks.unavailable} nodes unavailable at once`);
  within(record.peaks.unavailable, count, 'the bad rollout');
  if (record.assigned(revision) !== count || record.assigned(rejected) !== 0)
    throw new ActionError('confirm', 'that all nodes are rolled back', {
      hint: `${record.assigned(rejected)} still have the bad configuration`,
    });
}

/** Throws if more nodes were unavailable than the scenario claims. */
function within(unavailable: number, count: number, what: string): void {
  const most = Math.max(1, Math.floor(count / 5));
  if (unavailable > most)
    throw new ActionError('confirm', `that ${what} keeps to its budget`, {
      hint: `${unavailable} nodes were unavailable at once, not ${most}`,
    });
}

/** Prints the progress of a rollout: each step when it begins, and its progress; on a terminal as a bar, elsewhere every few seconds. */
class Progress implements Disposable {
  readonly #narrator: Narrator;
  readonly #stage: FleetStage;
  readonly #context: Context;
  readonly #line: Line;
  readonly #over = new AbortController();
  #step = '';
  #last = '';
  #isPaused = false;
  #due = 0;

  constructor(context: Context, stage: FleetStage, narrator: Narrator) {
    this.#context = context;
    this.#line = progress(context);
    this.#stage = stage;
    this.#narrator = narrator;
    void this.#run().catch(() => {});
  }

  pause(): void {
    this.#isPaused = true;
    this.#line.clear();
  }

  resume(): void {
    this.#isPaused = false;
  }

  [Symbol.dispose](): void {
    this.#over.abort();
    this.#line.clear();
  }

  async #run(): Promise<void> {
    const { clock } = this.#context;
    for (; !this.#over.signal.aborted; await clock.sleep(100, this.#over.signal)) {
      const { status } = this.#stage.rollout.last ?? {};
      if (this.#isPaused || status?.nodes === undefined || status.phase === 'Complete') continue;
      this.#line.draw(barOf(status, spec.steps?.length ?? 0));
      if (status.stopped !== undefined) continue;
      const step = `${status.revision} ${status.step}`;
      const now = clock.monotonic();
      const isNew = step !== this.#step;
      if (!isNew && (now < this.#due || this.#context.stderr.isTTY)) continue;
      this.#step = step;
      this.#due = now + PROGRESS_MS;
      this.#print(status, isNew);
    }
  }

  #print({ step = 1, nodes: counts, failures = [] }: RolloutStatus, isNew: boolean): void {
    const of = spec.steps?.length ?? 0;
    const { selected = 0, updated = 0, settled = 0 } = counts ?? {};
    const share = spec.steps?.[step - 1]?.nodes;
    const target = step === 1 ? 'a canary' : `up to ${share} of the nodes`;
    const failed = failures.length === 0 ? '' : `, ${failures.length} failed`;
    const text = isNew
      ? `step ${step} of ${of}, ${target}`
      : `${settled} of ${selected} nodes settled, ${updated - settled - failures.length} in flight${failed}`;
    if (text === this.#last) return;
    this.#last = text;
    this.#line.clear();
    this.#narrator.event(text);
  }
}

/** Width of the bar: the text beside it then fits into 80 columns. */
const WIDTH = 24;

/** Progress of a rollout on one line: settled, in-flight, failed and remaining nodes. Pure. */
export function barOf({ step = 1, phase, nodes }: RolloutStatus, steps: number): string {
  const { selected = 0, settled = 0, inFlight = 0, failed = 0 } = nodes ?? {};
  const cells = (count: number): number => Math.round((WIDTH * count) / Math.max(1, selected));
  const ends = [settled, settled + inFlight, settled + inFlight + failed].map((count) => Math.min(WIDTH, cells(count))) as [
    number,
    number,
    number,
  ];
  const bar = '█'.repeat(ends[0]) + '▒'.repeat(ends[1] - ends[0]) + '×'.repeat(ends[2] - ends[1]) + '·'.repeat(WIDTH - ends[2]);
  const where = phase === 'RollingBack' ? 'rolling back' : `step ${step} of ${steps}`;
  const parts = [
    where,
    `${settled} of ${selected} settled`,
    failed > 0 ? `${failed} failed` : '',
    inFlight > 0 ? `${inFlight} in flight` : '',
  ];
  return `  ${bar}  ${parts.filter((part) => part !== '').join(' · ')}`;
}
