import { dirname } from 'node:path';
import { Announcer } from './events/announcer.ts';
import { boot, type BootOutcome } from './boot/execute.ts';
import { sourceText } from './checkpoint/source.ts';
import { DriftWatch } from './drift/drift-watch.ts';
import { readsAnotherFile } from './drift/observe.ts';
import type { KubeletFacts } from './config/contract.ts';
import { Readiness } from './run/notify.ts';
import { CleanStop, noteStop, Shutdown } from './run/shutdown.ts';
import { CheckpointGC } from './store/checkpoint-gc.ts';
import { KubeletWatch, watchHandOver } from './trial/kubelet-watch.ts';
import { isRunningOn, type Running } from './host/unit.ts';
import { learnKubelet, VersionRecord } from './host/kubelet.ts';
import { ActiveRecordWriter } from './status/active-record-writer.ts';
import { type Metrics, noMetrics, openMetrics } from './metrics/metrics.ts';
import { keepMetricsServed } from './metrics/server.ts';
import type { AgentContext, AgentOptions, AgentWorld } from './options.ts';
import { runOnline } from './run/online.ts';
import { SlowDisk, writeBackToDisk } from './boot/volatile-file.ts';
import { NodeConfigState } from './status/node-config-state.ts';
import { FsStore } from './store/fs-store.ts';
import { layout, volatileActive } from './store/layout.ts';
import { countBoot } from './trial/condemn.ts';
import { ExitsFile } from './trial/exits.ts';
import { NodeHealth } from './trial/health.ts';
import { TrialWatch } from './trial/trial.ts';
import { watchNodeFiles } from './watch/watch-files.ts';
import type { Disk } from '../base/disk.ts';
import { ActionError, describeError, errorCode } from '../base/errors.ts';
import { aborted } from '../base/waiting.ts';
import { type HeldLock, LockError } from '../base/lock.ts';

/** How long a starting agent waits for the previous agent to exit, in ms. */
const AGENT_LOCK_WAIT_MS = 2000;

/** How long a change waits while an admin's command holds the store lock, in ms. systemd limits the whole start to 15 s. */
const STORE_LOCK_WAIT_MS = 3000;

export function openStore(
  options: Pick<AgentOptions, 'dynamicConfigDir' | 'kubeletExits'>,
  { disk, locks, clock, log }: AgentWorld,
): FsStore {
  const onDamage = async (path: string, problem: string): Promise<void> => {
    log.error('damaged file is set aside', { path, problem });
    const line = { at: new Date(clock.now()).toISOString(), event: 'damaged', source: null, detail: `${path}: ${problem}` } as const;
    await store.addToJournal(line).catch((error: unknown) => log.error('failed to write journal entry', { error }));
  };
  const store = new FsStore({
    disk,
    locks,
    clock,
    root: options.dynamicConfigDir,
    onDamage,
    lockWaitMs: STORE_LOCK_WAIT_MS,
    volatileDir: dirname(options.kubeletExits),
  });
  return store;
}

/**
 * `dkc agent run --once`: boot and nothing else.
 * @throws LockError when an agent runs on this store
 */
export async function bootOnce(options: AgentOptions, world: AgentWorld): Promise<BootOutcome> {
  await using _lock = await lockAgent(options, world);
  const { disk, clock, log } = world;
  const outcome = await boot({
    options,
    store: openStore(options, world),
    disk,
    clock,
    log,
    kubelet: await loadKubeletFacts(options, world),
  });
  // `dkc status` reads active.json: what an earlier agent wrote there is outdated now.
  const activeRecord = new ActiveRecordWriter({
    disk,
    clock,
    log,
    path: layout(options.dynamicConfigDir).active,
    volatilePath: volatileActive(options.kubeletExits),
    configState: new NodeConfigState(outcome),
    nodeName: options.nodeName,
  });
  activeRecord.notice('local-config', outcome.localProblem ?? null);
  await activeRecord.settled();
  return outcome;
}

/**
 * `dkc agent run`: boot, READY, then trial and, with a kubeconfig, sync and status, until the agent is stopped or exits to be started again.
 * @returns the exit code. 0: stopped, or exits so that systemd starts it again; 1: failed
 */
export async function runAgent(options: AgentOptions, world: AgentWorld): Promise<number> {
  const { log, clock, disk } = world;
  const slowDisk = new SlowDisk(world);
  const readiness = new Readiness(world, () => slowDisk.reportLateStart());
  let lock;
  try {
    lock = await lockAgent(options, world);
  } catch (error) {
    readiness.end();
    log.error('the agent cannot start', { error });
    return 1;
  }
  try {
    const kubelet = await loadKubeletFacts(options, world);
    const store = openStore(options, world);
    const announcer = new Announcer({ ...world, store, path: layout(options.dynamicConfigDir).announced, nodeName: options.nodeName });
    await announcer.open();
    const cleanStop = new CleanStop(disk, layout(options.dynamicConfigDir).cleanStop, log);
    const thisBoot = await countBoot({ options, store, cleanStop, bootId: await bootId(world), clock, log });
    const outcome = await boot({ options, store, disk, clock, log, kubelet });
    const configState = new NodeConfigState(outcome);
    const { nodeName } = options;
    const path = layout(options.dynamicConfigDir).active;
    const volatilePath = volatileActive(options.kubeletExits);
    const activeRecord = new ActiveRecordWriter({ disk, clock, log, path, volatilePath, configState, nodeName });
    const shutdown = new Shutdown({ options, world });
    const drift = new DriftWatch({ options, world, configState, activeRecord, announcer, shutdown, outcome });
    await drift.open();
    const metrics = metricsFor(options, { configState, store });
    const nodeHealth = new NodeHealth({ options, disk, clock, log });
    const exits = new ExitsFile(disk, options.kubeletExits, log);
    const isRunning = (sha256: string): Promise<Running> => isRunningOn(sha256, options, world);
    const kubeletWatch = new KubeletWatch({
      options,
      configState,
      exits,
      clock,
      log,
      probe: world.probe,
      isRunning,
      onState: (problem) => {
        activeRecord.notice('kubelet', problem);
        metrics.kubelet(problem === null);
        if (problem !== null) announcer.announce(problem);
      },
    });
    const onProblem = (problem: string | null): void => activeRecord.notice('trial', problem && `the trial does not go on: ${problem}`);
    const trial = new TrialWatch({
      options,
      store,
      configState,
      exits,
      clock,
      log,
      boot: thisBoot,
      probe: world.probe,
      isRunning: async (sha256) => {
        const running = await isRunning(sha256);
        return running !== false && (await readsAnotherFile(options, world)) ? false : running;
      },
      node: nodeHealth,
      onHealthy: metrics.trialHealthy,
      onProblem,
      slowDisk,
      exit: (why) => shutdown.leave(why),
    });
    await trial.open().catch((error: unknown) => {
      log.error('failed to begin trial', { error });
      onProblem(describeError(error));
    });
    await readiness.done(`${outcome.used}: ${sourceText(outcome.source)}${outcome.error === null ? '' : `; ${outcome.error}`}`);
    // kubelet-sync compares the effective file right after READY, so it compared the previous file.
    if (readiness.isLate && outcome.effective.changed) void shutdown.leave('the effective file was written after READY');
    activeRecord.notice('local-config', outcome.localProblem ?? null);
    const checkpointGc = new CheckpointGC({ options, disk, log, store, configState });
    // Written at once, in parallel with all other pending writes: on a slow disk systemd kills the agent before all of them are done.
    const noted = aborted(world.stop).then(() => noteStop(cleanStop, thisBoot.bootId, options, world));
    await loops({
      options,
      world,
      store,
      configState,
      activeRecord,
      shutdown,
      metrics,
      trial,
      kubeletWatch,
      nodeHealth,
      checkpointGc,
      announcer,
      drift,
      kubelet,
      slowDisk,
    });
    await activeRecord.settled();
    if (world.stop.aborted) await noted;
    log.info('agent exiting', { why: shutdown.why });
    return 0;
  } catch (error) {
    log.error('agent failed', { error });
    return 1;
  } finally {
    readiness.end();
    await lock.release();
  }
}

/** Runs all loops until the agent is to exit. When one loop throws, the agent exits and systemd starts it again. */
async function loops(context: AgentContext): Promise<void> {
  const { options, world, shutdown, trial } = context;
  const { signal } = shutdown;
  const guard = async (name: string, loop: Promise<void>): Promise<void> => {
    try {
      await loop;
    } catch (error) {
      if (!signal.aborted) await shutdown.leave(`${name} failed: ${describeError(error)}`);
    }
  };
  const parts: Promise<void>[] = [
    guard('watchdog', world.notify.keepAlive(signal)),
    guard('trial', trial.run(signal)),
    guard('kubelet watch', context.kubeletWatch.run(signal)),
    guard('records watch', watchNodeFiles(context)),
    guard('garbage collection', context.checkpointGc.run(signal)),
    guard('writing records back to the disk', writeBackToDisk(context)),
    guard('slow disk', context.slowDisk.run(context.activeRecord, signal)),
    guard('metrics', serveMetrics(context)),
    guard('hand-over watch', watchHandOver(context)),
    guard('drift watch', context.drift.run(signal)),
  ];
  if (options.kubeconfig === undefined) {
    world.log.info('no kubeconfig: assignments are not watched, using the one on disk');
    context.activeRecord.carrier(null, 'no --kubeconfig was given');
  } else parts.push(guard('sync', runOnline(context, options.kubeconfig)));
  parts.push(shutdown.left());
  await Promise.all(parts);
}

/** @throws ActionError where `path`, or a part of it, exists and is not a directory */
async function makeRoot(path: string, disk: Pick<Disk, 'stat' | 'makeDir'>): Promise<void> {
  const elsewhere = 'or set another directory with --dynamic-config-dir';
  const there = await disk.stat(path);
  if (there?.kind === 'file') throw new ActionError('use', path, { hint: `it is a file, not a directory: move it away, ${elsewhere}` });
  if (there?.kind === 'other') {
    const hint = 'it is a symbolic link that leads to no directory: make that directory or mount its file system, remove the link,';
    throw new ActionError('use', path, { hint: `${hint} ${elsewhere}` });
  }
  try {
    await disk.makeDir(path, 0o700);
  } catch (cause) {
    if (errorCode(cause) !== 'ENOTDIR') throw cause;
    throw new ActionError('use', path, { hint: `a part of its path is not a directory: move that away, ${elsewhere}`, cause });
  }
}

/** Error codes of a disk on which no file can be created. */
const DISK_ERRORS: ReadonlySet<string | undefined> = new Set(['EROFS', 'ENOSPC', 'EDQUOT', 'EIO', 'ESTALE', 'EUCLEAN', 'EBADMSG']);

/**
 * One agent per store. On a disk where no lock file can be created nothing else can be changed either, so a second agent does no harm there:
 * the agent continues without the lock, since boot and status matter more.
 * @throws LockError when another agent holds the lock, or this process has no permission to take it
 */
async function lockAgent(options: AgentOptions, { disk, locks, log }: AgentWorld): Promise<HeldLock> {
  const path = layout(options.dynamicConfigDir).agentLock;
  try {
    await makeRoot(options.dynamicConfigDir, disk);
    return await locks.take(path, AGENT_LOCK_WAIT_MS);
  } catch (error) {
    const cause = error instanceof LockError ? error.cause : error;
    if (DISK_ERRORS.has(errorCode(cause))) {
      log.error('file locking not supported, continuing without', { path, error });
      return { release: async () => {}, [Symbol.asyncDispose]: async () => {} };
    }
    if (!(error instanceof LockError) || cause !== undefined) throw error;
    throw new LockError(error.path, 'another agent uses this store; only one may run at a time (systemctl status dkc-agent)');
  }
}

function loadKubeletFacts(options: AgentOptions, { disk, exec, log }: AgentWorld): Promise<KubeletFacts> {
  return learnKubelet({ options, disk, exec, log, memo: new VersionRecord(disk, layout(options.dynamicConfigDir).kubeletVersion, log) });
}

/** Kernel boot id; '' where it cannot be read. */
async function bootId({ disk }: AgentWorld): Promise<string> {
  return disk.read('/proc/sys/kernel/random/boot_id').then(
    (bytes) => new TextDecoder().decode(bytes).trim(),
    () => '',
  );
}

function metricsFor(options: AgentOptions, { configState, store }: Pick<AgentContext, 'configState' | 'store'>): Metrics {
  if (options.metricsBindAddress === '') return noMetrics;
  const metrics = openMetrics(() => store.journal());
  const show = (): void => metrics.picture(configState.shown);
  configState.onChange(show);
  show();
  return metrics;
}

/** A metrics server that fails is reported in the log and in `dkc status`; the agent keeps running. */
async function serveMetrics({
  options,
  world,
  metrics,
  activeRecord,
  shutdown,
}: Pick<AgentContext, 'options' | 'world' | 'metrics' | 'activeRecord' | 'shutdown'>): Promise<void> {
  if (options.metricsBindAddress === '') return;
  const { clock, random, log } = world;
  const onState = (problem: string | null): void => activeRecord.notice('metrics', problem);
  await keepMetricsServed({ address: options.metricsBindAddress, metrics, clock, random, log, onState }, shutdown.signal);
}
