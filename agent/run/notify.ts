import { write } from 'node:fs';
import type { Clock, Millis } from '../../base/clock.ts';
import type { Exec } from '../../base/exec.ts';
import type { Log } from '../../base/log.ts';

/** Sends READY, STATUS, WATCHDOG and STOPPING to systemd; does nothing when not started by systemd. Never throws, never waits for PID 1. */
export interface Notify {
  ready(status: string): Promise<void>;
  status(text: string): Promise<void>;
  stopping(): Promise<void>;
  /** Sends WATCHDOG=1 every third of WatchdogSec= until the signal aborts. @returns at once where the unit has no watchdog */
  keepAlive(signal: AbortSignal): Promise<void>;
}

export interface NotifyDeps {
  env: Readonly<Record<string, string | undefined>>;
  pid: number;
  exec: Exec;
  clock: Clock;
  log: Log;
}

// The first file descriptor that systemd passes.
const FIRST_FD = 3;

/**
 * systemd 253 and later pass a connected notify socket (`OpenFile=`): a plain write to it is a notification. For older versions the program
 * systemd-notify sends it: through the npm package of that name for READY and STATUS, directly for WATCHDOG=1, which the package cannot send.
 * @see docs/decisions/0003-systemd-notify.md
 */
export function openNotify(deps: NotifyDeps): Notify {
  const { env, pid, clock, log } = deps;
  const send = sender(deps);
  const quietly = async (sent: Promise<void>): Promise<void> => {
    await sent.catch((error: unknown) => log.warn('sd_notify failed', { error }));
  };
  const watchdogMs: Millis =
    env['WATCHDOG_PID'] === undefined || env['WATCHDOG_PID'] === String(pid) ? Number(env['WATCHDOG_USEC'] ?? 0) / 1000 : 0;
  return {
    ready: (status) => quietly(send({ ready: true, status })),
    status: (status) => quietly(send({ status })),
    stopping: () => quietly(send({ raw: 'STOPPING=1' })),
    keepAlive: async (signal) => {
      // Not `<= 0`: with NaN the loop would ping without a pause.
      if (!(watchdogMs > 0)) return;
      while (!signal.aborted) {
        await quietly(send({ raw: 'WATCHDOG=1' }));
        await clock.sleep(watchdogMs / 3, signal).catch(() => {});
      }
    },
  };
}

/** The package systemd-notify runs the program of the same name. Rejects with the program's stderr. */
type PackagedNotify = (message: { ready?: boolean; status?: string }) => Promise<unknown>;

type Message = { ready?: true; status?: string; raw?: string };
type Send = (message: Message) => Promise<void>;

function sender({ env, pid, exec }: NotifyDeps): Send {
  const fd = passedSocket(env, pid);
  if (fd !== undefined) return (message) => writeTo(fd, textOf(message));
  if (!env['NOTIFY_SOCKET']) return () => Promise.resolve();
  return async ({ ready, status, raw }) => {
    if (raw !== undefined) {
      const { code, stderr } = await exec('systemd-notify', [raw]);
      if (code !== 0) throw new Error(`systemd-notify: ${stderr.trim()}`);
      return;
    }
    // @ts-expect-error -- the package has no types
    const { default: notify } = (await import('systemd-notify')) as { default: PackagedNotify };
    await notify({ ...(ready ? { ready } : {}), ...(status === undefined ? {} : { status: oneLine(status) }) });
  };
}

function passedSocket(env: NotifyDeps['env'], pid: number): number | undefined {
  if (env['LISTEN_PID'] !== String(pid)) return undefined;
  const at = (env['LISTEN_FDNAMES'] ?? '').split(':').indexOf('notify');
  return at < 0 || at >= Number(env['LISTEN_FDS'] ?? 0) ? undefined : FIRST_FD + at;
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ');

function textOf({ ready, status, raw }: Message): string {
  return [
    ...(ready ? ['READY=1'] : []),
    ...(status === undefined ? [] : [`STATUS=${oneLine(status)}`]),
    ...(raw === undefined ? [] : [raw]),
  ].join('\n');
}

/** Asynchronous, since the socket blocks when PID 1 lags. One write is one datagram. */
function writeTo(fd: number, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    write(fd, text, (error) => (error ? reject(error) : resolve()));
  });
}

/** Age of the process at which READY is sent at the latest, in ms: systemd ends a start after 15 s, and a busy machine delivers it late. */
export const READY_AT_MS: Millis = 8000;

export interface ReadinessDeps {
  notify: Notify;
  clock: Pick<Clock, 'sleep'>;
  /** Time that is left until READY must be sent, in ms. Absent: no limit, since nothing ends a slow start. */
  readyWithinMs?: Millis;
}

/**
 * Sends READY once the start is done, or when the time limit is reached: on a slow disk systemd would otherwise end every start before it is
 * done, and the node would have no agent while the disk is slow. After a late READY the kubelet continues with the effective file that exists.
 */
export class Readiness {
  readonly #notify: Notify;
  readonly #started = new AbortController();
  readonly #late: Promise<void>;
  #isLate = false;

  /** @param onLate - called once, when the time limit is reached */
  constructor({ notify, clock, readyWithinMs }: ReadinessDeps, onLate: () => void) {
    this.#notify = notify;
    const { signal } = this.#started;
    const late = async (): Promise<void> => {
      if (signal.aborted) return;
      this.#isLate = true;
      onLate();
      await notify.ready('starting: waiting for the disk');
      // systemd expects watchdog pings from READY on.
      await notify.keepAlive(signal);
    };
    this.#late = readyWithinMs === undefined ? Promise.resolve() : clock.sleep(readyWithinMs, signal).then(late, () => {});
  }

  /** Whether READY was sent at the time limit, before the effective file was written. */
  get isLate(): boolean {
    return this.#isLate;
  }

  /** The start is done. */
  async done(status: string): Promise<void> {
    this.end();
    await this.#late;
    await (this.#isLate ? this.#notify.status(status) : this.#notify.ready(status));
  }

  /** Cancels the late READY: the start is done, or it failed. */
  end(): void {
    this.#started.abort();
  }
}
