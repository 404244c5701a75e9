import { describeError } from '../../base/errors.ts';
import { aborted } from '../../base/waiting.ts';
import { type Serving, startServing } from '../serving/serve.ts';
import { Discovery, healthChecks, readyChecks } from './readiness.ts';
import { makeParts, type Parts } from './parts.ts';
import type { Log } from '../../base/log.ts';
import type { AccessSource } from '../client/access.ts';
import type { ProcessOptions, Runnable, World } from './contract.ts';

/**
 * Runs controllers until the signal aborts: serves metrics and checks, discovers the API, fills the caches, waits for the lease, and runs what `setup`
 * returned. It serves from the beginning: a process that waits for the API server is alive.
 *
 * On shutdown, in this order: controllers drain, their events are sent, the lease is released, caches, connections and serving close.
 * @returns the exit code: 0 after the signal; 1 after the lease was lost, or an unexpected error
 * @throws {ActionError} before anything runs, when the access cannot be read or the address cannot be bound
 * @throws what `setup` and `onReady` throw, after everything is closed
 * @see docs/process.md
 */
export async function runProcess(options: ProcessOptions, world: World): Promise<number> {
  const { access } = options;
  const source: AccessSource = 'current' in access ? access : { current: () => Promise.resolve(access) };
  await source.current();
  const parts = makeParts(options, source, world);
  const process = new Process(parts, world.log, options.onFailed);
  const stop = (): void => process.stop(world.signal.reason);
  world.signal.addEventListener('abort', stop, { once: true });
  if (world.signal.aborted) stop();
  let serving: Serving | undefined;
  try {
    const discovery = new Discovery(options.setup, world);
    serving = await serve(parts, discovery, options, world);
    const setup = await discovery.setup(parts.connection, process.signal);
    if (setup !== undefined) {
      const runnables = setup(parts.runtime);
      process.begin();
      if (await process.mayWork()) {
        options.onReady?.({ metrics: serving.url });
        await process.work(runnables);
      }
    }
  } finally {
    world.signal.removeEventListener('abort', stop);
    await process.end();
    await serving?.close();
  }
  return process.exitCode;
}

function serve(
  { metrics, informers, leadership, dumps }: Parts,
  discovery: Discovery,
  options: ProcessOptions,
  { clock, log }: World,
): Promise<Serving> {
  return startServing({
    address: options.metricsAddress,
    registry: metrics.registry,
    health: healthChecks(informers),
    ready: [...readyChecks(informers, leadership, discovery), ...(options.ready ?? [])],
    debug: options.debug ?? false,
    dumps,
    clock,
    log,
  });
}

/** The running parts of a process, and the order in which they end. */
class Process {
  readonly #parts: Parts;
  readonly #log: Log;
  readonly #onFailed: ProcessOptions['onFailed'];
  readonly #working = new AbortController();
  readonly #electing = new AbortController();
  readonly #caching = new AbortController();
  #election: Promise<void> | undefined;
  #caches: Promise<void> | undefined;
  #lost = false;
  #failed = false;

  constructor(parts: Parts, log: Log, onFailed: ProcessOptions['onFailed']) {
    this.#parts = parts;
    this.#log = log;
    this.#onFailed = onFailed;
  }

  get exitCode(): number {
    return this.#failed ? 1 : 0;
  }

  /** Aborts when the process is to end. */
  get signal(): AbortSignal {
    return this.#working.signal;
  }

  stop(reason: unknown): void {
    this.#working.abort(reason);
  }

  /** A standby fills its caches as well, so a takeover takes only as long as the lease. */
  begin(): void {
    const { informers } = this.#parts;
    this.#caches = informers.run(this.#caching.signal).catch((error: unknown) => this.#fail('caches', error));
    this.#election = this.#elect().catch((error: unknown) => this.#fail('leader election', error));
  }

  /** Resolves to true once every cache has synced and the lease is held, or to false when the process has to end before that. */
  async mayWork(): Promise<boolean> {
    const { informers, leadership } = this.#parts;
    const { signal } = this.#working;
    try {
      await Promise.all([informers.whenSynced(signal), leadership?.whenLeading(signal)]);
    } catch (error) {
      if (!signal.aborted) this.#fail('start', error);
    }
    return !signal.aborted;
  }

  /** Resolves when the process has to end and every runnable has ended. */
  async work(runnables: readonly Runnable[]): Promise<void> {
    const { signal } = this.#working;
    const run = async (runnable: Runnable): Promise<void> => {
      try {
        await runnable.run(signal);
      } catch (error) {
        this.#fail(runnable.name, error);
      }
    };
    await Promise.all([aborted(signal), ...runnables.map(run)]);
  }

  async end(): Promise<void> {
    const { connection, events, leadership, queues } = this.#parts;
    this.#working.abort();
    queues.shutDown();
    await events.close(this.#lost ? AbortSignal.abort() : never());
    this.#electing.abort();
    await this.#election;
    await leadership?.close(this.#lost);
    this.#caching.abort();
    await this.#caches;
    await connection.close();
  }

  async #elect(): Promise<void> {
    const ended = await this.#parts.leadership?.run(this.#electing.signal);
    if (ended?.why !== 'lost') return;
    this.#lost = true;
    this.#fail('leader election', new Error(`the lease is lost: ${ended.detail}`));
  }

  #fail(part: string, error: unknown): void {
    if (!this.#failed) this.#onFailed?.({ part, error });
    this.#failed = true;
    this.#log.error('the process ends', { part, error: describeError(error) });
    this.#working.abort(error);
  }
}

const never = (): AbortSignal => new AbortController().signal;
