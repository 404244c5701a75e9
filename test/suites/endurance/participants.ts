import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { type ApiServer } from '../../../apiserver/server.ts';
import { realClock } from '../../../base/clock.ts';
import { seededRandom, type Random } from '../../../base/random.ts';
import type { ClusterAccess } from '../../../kube/client/access.ts';
import { holderOf, type Lease } from '../../../kube/election/lease.ts';
import { Audit } from './audit.ts';
import { Line } from './line.ts';
import type { ParticipantOptions } from './participant.ts';
import { apiServer } from '../../support/embedded-api.ts';

const PROGRAM = join(import.meta.dirname, 'participant.ts');
const NAMESPACE = 'default';
const HOUR = 3_600_000;
const SKEWS = [0, 5 * HOUR, -7 * HOUR, 26 * HOUR, -90_000];

/** How they take part. */
export interface Setting {
  /** A bug that all of them have; '' for none. */
  planted: string;
  /** How wrong the wall clock of the n-th to come is, in ms. */
  skewMs: (n: number) => number;
  pace: Pick<ParticipantOptions, 'leaseDurationMs' | 'renewDeadlineMs' | 'retryPeriodMs'>;
}

const sound: Setting = {
  planted: '',
  skewMs: (n) => SKEWS[n % SKEWS.length] ?? 0,
  // Of 15, 10 and 2 seconds a tenth or so; a lease is whole seconds long.
  pace: { leaseDurationMs: 2_000, renewDeadlineMs: 1_300, retryPeriodMs: 250 },
};

/** One process that takes part. */
export interface Participant {
  identity: string;
  child: ChildProcess;
  /** Its own ways to the server: by one it keeps the lease, by the other it writes. */
  lines: { lease: Line; writes: Line };
  /** The exit code, or the signal that ended it. */
  ended: Promise<number | string>;
}

/** Three processes that elect one leader among them, on one API server in this process. */
export class Participants {
  readonly server: ApiServer;
  readonly audit: Audit;
  readonly random: Random;
  readonly #setting: Setting;
  /** All there ever were: what a line holds back arrives after its process ended. */
  readonly #lines: Line[] = [];
  readonly #running = new Map<string, Participant>();
  #started = 0;
  #isOver = false;

  private constructor(server: ApiServer, setting: Setting) {
    this.server = server;
    this.audit = new Audit(server.hooks.storage);
    this.random = seededRandom(7);
    this.#setting = setting;
  }

  static async start(setting: Partial<Setting> = {}): Promise<Participants> {
    const server = await apiServer();
    for (const name of ['target', 'regardless']) {
      server.add({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: NAMESPACE } });
    }
    const made = new Participants(server, { ...sound, ...setting });
    for (let n = 0; n < 3; n++) await made.#join();
    return made;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    this.audit.close();
    const all = [...this.#running.values()];
    for (const { child } of all) child.kill('SIGKILL');
    await Promise.all(all.map(({ ended }) => ended));
    await Promise.all(this.#lines.map((line) => line[Symbol.asyncDispose]()));
    await this.server.stop();
  }

  /** Who leads, by the record that counts, and has written twice since. */
  async leader(withinMs: number): Promise<Participant> {
    return this.until(withinMs, 'a leader that writes', () => {
      const lease: Lease | undefined = this.server.hooks.storage.get('coordination.k8s.io/leases', `${NAMESPACE}/lease`);
      const last = this.audit.of('target').slice(-2);
      const holder = lease === undefined ? '' : holderOf(lease);
      return last.length === 2 && last.every(({ identity }) => identity === holder) ? this.#running.get(holder) : undefined;
    });
  }

  /** Another one than `last` leads and writes. */
  async nextAfter(last: Participant, withinMs: number): Promise<void> {
    const from = this.audit.writes.length;
    const epoch = this.audit.writes.at(-1)?.epoch ?? -1;
    await this.until(withinMs, `a leader after ${last.identity}`, () => {
      return this.audit.writes.slice(from).find((write) => write.epoch > epoch && write.identity !== last.identity);
    });
  }

  /** One of those that do not lead. */
  followerOf(leader: Participant): Participant | undefined {
    return [...this.#running.values()].find((participant) => participant !== leader);
  }

  /** What `look` finds, when it does. @throws Error when there is nothing within `ms`, or these have ended */
  async until<T>(ms: number, what: string, look: () => T | undefined): Promise<T> {
    const end = performance.now() + ms;
    for (;;) {
      const found = look();
      if (found !== undefined) return found;
      if (this.#isOver) throw new Error(`it is over, without ${what}`);
      if (performance.now() > end) throw new Error(`there was not ${what} within ${ms} ms`);
      await realClock.sleep(5);
    }
  }

  async #join(): Promise<void> {
    this.#started += 1;
    const identity = `participant-${this.#started}`;
    const { planted, pace, skewMs } = this.#setting;
    const port = Number(new URL(this.server.url).port);
    const lines = { lease: await Line.to(port), writes: await Line.to(port) };
    this.#lines.push(lines.lease, lines.writes);
    if (this.#isOver) return;
    const access = (line: Line): ClusterAccess => {
      return { server: `https://127.0.0.1:${line.port}`, origin: 'test', token: this.server.token, ca: { data: this.server.caPem } };
    };
    const options: ParticipantOptions = {
      ...pace,
      access: { lease: access(lines.lease), writes: access(lines.writes) },
      identity,
      namespace: NAMESPACE,
      skewMs: skewMs(this.#started),
      planted,
    };
    const child = spawn(process.execPath, [PROGRAM], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { PATH: process.env['PATH'], PARTICIPANT: JSON.stringify(options) },
    });
    const ended = once(child, 'exit').then(([code, signal]) => (code ?? signal) as number | string);
    this.#running.set(identity, { identity, child, lines, ended });
    void ended.then(async () => {
      this.#running.delete(identity);
      if (!this.#isOver) await this.#join();
    });
  }
}
