import type { AgentContext, AgentOptions } from '../options.ts';
import { sameSource } from '../checkpoint/source.ts';
import { closestKubeletVersion } from '../config/config.ts';
import type { KubeletFacts } from '../config/contract.ts';
import { readKubeletHelp, VersionRecord } from '../host/kubelet.ts';
import { preflighter } from '../sync/preflight.ts';
import { assignmentCarrier } from '../status/assignment-carrier.ts';
import { nodeCarrier } from '../status/node-carrier.ts';
import { renewToken } from './account-token.ts';
import { type Carrier, Reporter } from '../status/reporter.ts';
import type { AssignedBy } from '../store/active-record.ts';
import { layout } from '../store/layout.ts';
import { Executor } from '../sync/execute.ts';
import { Sync } from '../sync/sync.ts';
import { ActionError, describeError } from '../../base/errors.ts';
import { Trigger } from '../../base/waiting.ts';
import type { Client } from '../../kube/client/client.ts';
import type { Choice } from '../status/choose-carrier.ts';

const CONNECT_RETRY_MS = 10_000;

/** Everything that needs an API server: watch the assignment, download, assign, report. Ends with the signal of `shutdown`. */
export async function runOnline(context: AgentContext, kubeconfig: string): Promise<void> {
  const { options, world, store, configState, shutdown, metrics, activeRecord } = context;
  const { clock, random, log } = world;
  const { signal } = shutdown;
  const client = await connect(context, kubeconfig);
  if (!client) return;
  try {
    const deps = { client, clock, random, log };
    const carrier = openCarrier(context, client, await activeRecord.assignedBy());
    const kubelet = kubeletKnowledge(context, () => context.sync?.notify());
    const executor = new Executor({
      ...deps,
      store,
      configState,
      nodeName: options.nodeName,
      onCheckpoint: () => context.checkpointGc.notify(),
      exit: (why) => shutdown.leave(why, { spread: true }),
      exitWaits: options.restartSpread > 0,
    });
    const preflight = options.preflight ? preflighter({ options, disk: world.disk, log, kubelet: kubelet.now }) : null;
    const sync = new Sync({
      ...deps,
      store,
      configState,
      executor,
      preflight,
      intervalMs: options.syncInterval,
      onRun: metrics.sync,
      onProblem: (problem) => activeRecord.notice('sync', problem),
    });
    context.sync = sync;
    const shown = new ShownCarrier(context, firstChoice(options.assignment));
    const credentials = new CredentialWatch(context, kubeconfig);
    const reporter = new Reporter({
      carrier,
      configState,
      clock,
      random,
      log,
      onKept: (kept) => shown.kept(kept),
      onProblem: (problem) =>
        activeRecord.notice(
          'report',
          problem && `the API server has not taken the status of this node and still shows an older one: ${problem}`,
        ),
    });
    // A trial may pass while sync assigns the same content under a new name: another sync moves last-known-good to that name.
    let trusted = configState.picture.lastKnownGood;
    configState.onChange(() => {
      const now = configState.picture.lastKnownGood;
      if (!sameSource(now, trusted)) sync.notify();
      trusted = now;
    });
    log.info('watching assignment on the API server', { assignment: carrier.name });
    await Promise.all([
      carrier.watch(
        {
          onWanted: (wanted) => sync.setWanted(wanted),
          onSeen: () => {
            shown.reached();
            reporter.notify();
            context.announcer.retry();
          },
          onFailure: (text) => {
            shown.failed(text);
            credentials.notify();
          },
          onChosen: (choice) => {
            shown.chosen(choice);
            reporter.notify();
          },
          onKubeletVersion: kubelet.onVersion,
        },
        signal,
      ),
      sync.run(signal),
      context.announcer.run(client, signal),
      context.nodeHealth.run(client, signal),
      reporter.run(signal, () => sync.caughtUp()),
      credentials.run(signal),
      keepToken(context, client, kubeconfig),
    ]);
  } finally {
    await client.close();
  }
}

/** Retries a kubeconfig that cannot be used: on a new node, bootstrap writes it and its certificates while the agent already runs. */
async function connect(
  { world, shutdown, activeRecord }: Pick<AgentContext, 'world' | 'shutdown' | 'activeRecord'>,
  kubeconfig: string,
): Promise<Client | undefined> {
  for (let logged = ''; !shutdown.signal.aborted;) {
    try {
      return await world.connect(kubeconfig);
    } catch (error) {
      const text = describeError(error);
      if (text !== logged) world.log.error('cannot reach API server, retrying', { kubeconfig, error });
      logged = text;
      activeRecord.carrier(null, error instanceof ActionError ? error.message : text);
      await world.clock.sleep(CONNECT_RETRY_MS, shutdown.signal).catch(() => {});
    }
  }
  return undefined;
}

/** Time between two checks of the credentials, in ms. */
const CREDENTIALS_PERIOD_MS = 60_000;

/** An expired certificate is one of many causes of a 401: log and `dkc status` name the cause. Checks only after a request has failed. */
class CredentialWatch {
  readonly #context: Pick<AgentContext, 'world' | 'activeRecord' | 'options'>;
  readonly #kubeconfig: string;
  readonly #due = new Trigger();
  #reported: string | undefined;

  constructor(context: Pick<AgentContext, 'world' | 'activeRecord' | 'options'>, kubeconfig: string) {
    this.#context = context;
    this.#kubeconfig = kubeconfig;
  }

  /** A request has failed. */
  notify(): void {
    this.#due.notify();
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#context.world;
    while (!signal.aborted) {
      // While a problem is known, check every period: once it is fixed no request fails, so nothing would trigger the check.
      if (this.#reported === undefined) await this.#due.wait(signal);
      if (!signal.aborted) await this.#check();
      await clock.sleep(CREDENTIALS_PERIOD_MS, signal).catch(() => {});
    }
  }

  async #check(): Promise<void> {
    const { world, activeRecord, options } = this.#context;
    const [kubeconfig, { kubeletUnit }] = [this.#kubeconfig, options];
    const problem = await world.credentialProblem?.({ kubeconfig, kubeletUnit }).catch(() => undefined);
    if (problem === this.#reported) return;
    this.#reported = problem;
    if (problem === undefined) world.log.info('credentials of the kubeconfig are valid again', { kubeconfig });
    else world.log.error('credentials of the kubeconfig cannot be used', { kubeconfig, problem });
    activeRecord.notice('credentials', problem ?? null);
  }
}

/** Renews the kubeconfig's ServiceAccount token, if it has one. A kubelet's client certificate is renewed by the kubelet itself. */
async function keepToken({ world, shutdown }: Pick<AgentContext, 'world' | 'shutdown'>, client: Client, kubeconfig: string): Promise<void> {
  const path = await world.tokenFile?.(kubeconfig).catch(() => undefined);
  if (path !== undefined) await renewToken(path, { ...world, client }, shutdown.signal);
}

/** The carrier for `--assignment`: the Node, or Node and NodeConfig. All other code uses the `Carrier` interface only. */
function openCarrier({ options, world }: Pick<AgentContext, 'options' | 'world'>, client: Client, assignedBy: AssignedBy): Carrier {
  const { clock, random, log, version } = world;
  const { assignment: mode, nodeName, configmapNamespace } = options;
  const deps = { client, clock, random, log, nodeName, configmapNamespace, version };
  return mode === 'node' ? nodeCarrier(deps) : assignmentCarrier({ ...deps, mode, assignedBy });
}

/** Facts about the kubelet: the version from its Node, flags and gates from its `--help`, which runs when first needed and after a version change. */
function kubeletKnowledge(
  { options, world, kubelet, shutdown }: Pick<AgentContext, 'options' | 'world' | 'kubelet' | 'shutdown'>,
  onChange: () => void,
): { now: () => Promise<KubeletFacts>; onVersion: (version: string) => void } {
  const { disk, exec, log } = world;
  const { signal } = shutdown;
  const versionRecord = new VersionRecord(disk, layout(options.dynamicConfigDir).kubeletVersion, log);
  let facts = kubelet;
  let helped: Promise<KubeletFacts> | undefined;
  let lastVersion = '';
  return {
    now: async () => {
      helped ??= readKubeletHelp(facts, { options, disk, log, exec: (program, args, asked) => exec(program, args, { ...asked, signal }) });
      const { knownGates, knownFlags } = await helped;
      return { ...facts, ...(knownGates ? { knownGates } : {}), ...(knownFlags ? { knownFlags } : {}) };
    },
    onVersion: (version) => {
      if (options.kubeletVersion !== undefined || version === lastVersion) return;
      lastVersion = version;
      try {
        const before = facts.version.text;
        const { version: closest, newer } = closestKubeletVersion(version);
        if (newer !== undefined)
          log.warn('kubelet is newer than the versions that this agent supports', { version: newer, validatedAs: closest.text });
        facts = { ...facts, version: closest };
        void versionRecord.remember(version);
        if (facts.version.text === before) return;
        helped = undefined; // another kubelet has other flags and gates
        onChange();
      } catch (error) {
        log.warn('the version of the kubelet is not one that this agent supports', { error: describeError(error) });
      }
    },
  };
}

type Chosen = Pick<Choice, 'carrier' | 'why' | 'missing'> & Partial<Pick<Choice, 'wanted'>>;

/** The carrier by `--assignment` alone, before the API server has answered. */
function firstChoice(assignment: AgentOptions['assignment']): Chosen {
  if (assignment === 'auto') return { carrier: null, why: 'the API server has not answered yet' };
  return { carrier: assignment, why: `--assignment=${assignment}` };
}

/** Reports in log, `dkc status` and events which object assigns, why, and what is missing; each once, until it changes. */
class ShownCarrier {
  readonly #context: Pick<AgentContext, 'world' | 'activeRecord' | 'announcer' | 'options'>;
  #choice: Chosen;
  #kept = true;
  #reached = false;
  #failure = '';

  constructor(context: Pick<AgentContext, 'world' | 'activeRecord' | 'announcer' | 'options'>, first: Chosen) {
    this.#context = context;
    this.#choice = first;
    this.#show();
  }

  /** Sets which object assigns. */
  chosen(choice: Chosen): void {
    const { world, announcer, activeRecord, options } = this.#context;
    const { missing } = this.#choice;
    this.#choice = choice;
    if (choice.carrier !== null && choice.wanted?.at !== 'absent') activeRecord.assigns(choice.carrier);
    world.log.info('assignment chosen', { carrier: choice.carrier, why: choice.why });
    if (choice.missing !== undefined && choice.missing !== missing) {
      world.log.error(choice.missing, { node: options.nodeName });
      announcer.announce(choice.missing, 'KubeletConfigUnassignable');
    }
    this.#show();
  }

  /** Whether the API server keeps the status fields that the agent writes to the carrier, or drops them. */
  kept(kept: boolean): void {
    if (this.#kept === kept) return;
    this.#kept = kept;
    this.#show();
  }

  /** The API server has answered. */
  reached(): void {
    if (this.#reached) return;
    this.#reached = true;
    if (this.#context.options.assignment === 'node') this.#context.activeRecord.assigns('node');
    this.#show();
  }

  /** The watch of the object fails. */
  failed(text: string): void {
    if (this.#reached || this.#failure === text) return;
    this.#failure = text;
    this.#show();
  }

  #show(): void {
    const { carrier, why, missing } = this.#choice;
    const unseen = `, but the agent has not read it yet${this.#failure === '' ? '' : `: ${this.#failure}`}`;
    const dropped = ', but the API server drops its fields: DynamicKubeletConfig is off there, or it is 1.26 or newer';
    const rest = this.#reached ? (this.#kept ? '' : dropped) : carrier === null ? this.#failure && `: ${this.#failure}` : unseen;
    this.#context.activeRecord.carrier(carrier, missing ?? `${why}${rest}`);
  }
}
