import { write } from 'node:fs';
import type { Clock, Millis } from '../../base/clock.ts';
import type { Exec } from '../../base/exec.ts';
import type { Log } from '../../base/log.ts';

/** Says READY, STATUS, WATCHDOG and STOPPING to systemd; elsewhere it says nothing. Never throws, never waits for PID 1. */
export interface Notify {
  ready(status: string): Promise<void>;
  status(text: string): Promise<void>;
  stopping(): Promise<void>;
  /** Pings at a third of the watchdog's span until the signal aborts. @returns at once when systemd keeps no watch */
  keepAlive(signal: AbortSignal): Promise<void>;
}

export interface NotifyDeps {
  env: Readonly<Record<string, string | undefined>>;
  pid: number;
  exec: Exec;
  clock: Clock;
  log: Log;
}

// Where systemd's passed descriptors begin.
const FIRST_FD = 3;

/**
 * systemd 253 and later hand us a connected notify socket (`OpenFile=`), to which a plain write is a notification. Older ones get it
 * through the program systemd-notify: the package of that name for READY and STATUS, the program itself for WATCHDOG=1, which the
 * package cannot send.
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
      // Not `<= 0`: a span that is no number would be pinged without a pause.
      if (!(watchdogMs > 0)) return;
      while (!signal.aborted) {
        await quietly(send({ raw: 'WATCHDOG=1' }));
        await clock.sleep(watchdogMs / 3, signal).catch(() => {});
      }
    },
  };
}

/** The package systemd-notify runs the program of the same name. Rejects with what that said on stderr. */
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

/** Age of a process at which systemd hears READY at the latest, in ms: systemd ends a start after 15 s, and on a busy machine it takes some to be heard. */
export const READY_AT_MS: Millis = 8000;

export interface ReadinessDeps {
  notify: Notify;
  clock: Pick<Clock, 'sleep'>;
  /** What is left until then, in ms. Absent: nobody ends a start that takes long. */
  readyWithinMs?: Millis;
}

/**
 * READY once a start is done, and after a time all the same: on a slow disk systemd would else end each start before it gets anywhere, and there would be
 * no agent as long as the disk is slow. The kubelet then goes on with the effective file that is there.
 */
export class Readiness {
  readonly #notify: Notify;
  readonly #started = new AbortController();
  readonly #late: Promise<void>;
  #isLate = false;

  /** @param onLate - told once, when the time is over */
  constructor({ notify, clock, readyWithinMs }: ReadinessDeps, onLate: () => void) {
    this.#notify = notify;
    const { signal } = this.#started;
    const late = async (): Promise<void> => {
      if (signal.aborted) return;
      this.#isLate = true;
      onLate();
      await notify.ready('starting: waiting for the disk');
      // From READY on systemd expects it.
      await notify.keepAlive(signal);
    };
    this.#late = readyWithinMs === undefined ? Promise.resolve() : clock.sleep(readyWithinMs, signal).then(late, () => {});
  }

  /** READY came before the effective file was what it should be. */
  get isLate(): boolean {
    return this.#isLate;
  }

  /** The start is done. */
  async done(status: string): Promise<void> {
    this.end();
    await this.#late;
    await (this.#isLate ? this.#notify.status(status) : this.#notify.ready(status));
  }

  /** Nobody waits for READY any more. */
  end(): void {
    this.#started.abort();
  }
}
