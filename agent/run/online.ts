import type { Running } from './agent-context.ts';
import { sameSource } from '../checkpoint/source.ts';
import { closestKubeletVersion } from '../config/config.ts';
import type { KubeletFacts } from '../config/contract.ts';
import { askHelp, VersionMemo } from '../host/kubelet.ts';
import type { AgentOptions } from '../options.ts';
import { preflighter } from '../sync/preflight.ts';
import { nodeCarrier } from '../status/node-carrier.ts';
import { type Carrier, Reporter } from '../status/reporter.ts';
import { layout } from '../store/layout.ts';
import { Executor } from '../sync/execute.ts';
import { Sync } from '../sync/sync.ts';
import { ActionError, describeError } from '../../base/errors.ts';
import type { Client } from '../../kube/client/client.ts';

const CONNECT_RETRY_MS = 10_000;

/** Everything that needs an API server: learn the assignment, download, assign, report. Ends with the departure's signal. */
export async function runOnline(running: Running, kubeconfig: string): Promise<void> {
  const { options, world, store, situation, departure, metrics, memo } = running;
  const { clock, random, log } = world;
  const { signal } = departure;
  const client = await connect(running, kubeconfig);
  if (!client) return;
  try {
    const deps = { client, clock, random, log };
    const carrier = chooseCarrier(running, client);
    const kubelet = kubeletKnowledge(running, () => running.sync?.poke());
    const executor = new Executor({
      ...deps,
      store,
      situation,
      nodeName: options.nodeName,
      onCheckpoint: () => running.garbage.poke(),
      exit: (why) => departure.leave(why, { spread: true }),
      exitWaits: options.restartSpread > 0,
    });
    const preflight = options.preflight ? preflighter({ options, disk: world.disk, log, kubelet: kubelet.now }) : null;
    const sync = new Sync({ ...deps, store, situation, executor, preflight, intervalMs: options.syncInterval, onRun: metrics.sync });
    running.sync = sync;
    const why = carrierReason(options.assignment);
    const onKept = (kept: boolean): void => {
      memo.carrier(
        carrier.name,
        kept ? why : `${why}, but the API server drops its fields: DynamicKubeletConfig is off there, or it is 1.26 or newer`,
      );
    };
    const reporter = new Reporter({ carrier, situation, clock, random, log, onKept });
    memo.carrier(carrier.name, `${why}, but it was not seen yet`);
    let reached = false;
    // A trial may end while sync follows the same content to a new name: what is trusted follows too, at one more look.
    let trusted = situation.picture.lastKnownGood;
    situation.onChange(() => {
      const now = situation.picture.lastKnownGood;
      if (!sameSource(now, trusted)) sync.poke();
      trusted = now;
    });
    log.info('assignment is learned from the API server', { carrier: carrier.name, why });
    await Promise.all([
      carrier.watch(
        {
          onWanted: (wanted) => sync.setWanted(wanted),
          onSeen: () => {
            if (!reached) memo.carrier(carrier.name, why);
            reached = true;
            reporter.poke();
            running.announcer.retry();
          },
          onTrouble: (text) => {
            if (!reached) memo.carrier(carrier.name, `${why}, but it was not seen yet: ${text}`);
          },
          onKubeletVersion: kubelet.heard,
        },
        signal,
      ),
      sync.run(signal),
      running.announcer.run(client, signal),
      running.nodeHealth.run(client, signal),
      reporter.run(signal, () => sync.caughtUp()),
    ]);
  } finally {
    await client.close();
  }
}

/** A kubeconfig that cannot be used today may be mended while the agent runs: bootstrap and certificates come late on new nodes. */
async function connect({ world, departure, memo }: Running, kubeconfig: string): Promise<Client | undefined> {
  for (let told = ''; !departure.signal.aborted;) {
    try {
      return await world.connect(kubeconfig);
    } catch (error) {
      const text = describeError(error);
      if (text !== told) world.log.error('no way to the API server; trying again', { kubeconfig, error });
      told = text;
      memo.carrier(null, error instanceof ActionError ? error.message : text);
      await world.clock.sleep(CONNECT_RETRY_MS, departure.signal).catch(() => {});
    }
  }
  return undefined;
}

/** The seam for other carriers: everything behind it only knows the interface. */
function chooseCarrier({ options, world }: Running, client: Client): Carrier {
  const { clock, random, log, version } = world;
  if (options.assignment === 'nodeconfig') log.error('--assignment=nodeconfig is not there yet: Node.spec.configSource is used instead');
  return nodeCarrier({ client, clock, random, log, nodeName: options.nodeName, configmapNamespace: options.configmapNamespace, version });
}

function carrierReason(assignment: AgentOptions['assignment']): string {
  switch (assignment) {
    case 'auto':
      return 'Node.spec.configSource';
    case 'node':
      return '--assignment=node';
    case 'nodeconfig':
      return 'Node.spec.configSource, since this version has no nodeconfig yet';
  }
}

/** What is known of the kubelet grows: its Node tells the version, its `--help` flags and gates. Asked when first needed, and again of another version. */
function kubeletKnowledge(
  { options, world, kubelet, departure }: Running,
  onNews: () => void,
): { now: () => Promise<KubeletFacts>; heard: (version: string) => void } {
  const { disk, exec, log } = world;
  const { signal } = departure;
  const memo = new VersionMemo(disk, layout(options.dynamicConfigDir).kubeletVersion, log);
  let facts = kubelet;
  let helped: Promise<KubeletFacts> | undefined;
  let heardLast = '';
  return {
    now: async () => {
      helped ??= askHelp(facts, { options, disk, log, exec: (program, args, asked) => exec(program, args, { ...asked, signal }) });
      const { knownGates, knownFlags } = await helped;
      return { ...facts, ...(knownGates ? { knownGates } : {}), ...(knownFlags ? { knownFlags } : {}) };
    },
    heard: (version) => {
      if (options.kubeletVersion !== undefined || version === heardLast) return;
      heardLast = version;
      try {
        const before = facts.version.text;
        const { version: closest, newer } = closestKubeletVersion(version);
        if (newer !== undefined) log.warn('the kubelet is newer than all this agent knows', { version: newer, judgedAs: closest.text });
        facts = { ...facts, version: closest };
        void memo.remember(version);
        if (facts.version.text === before) return;
        helped = undefined; // another kubelet has other flags and gates
        onNews();
      } catch (error) {
        log.warn('the version of the kubelet is not one that this agent knows', { error: describeError(error) });
      }
    },
  };
}
