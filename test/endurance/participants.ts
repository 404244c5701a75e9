import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { startApiServer, type ApiServer } from '../../apiserver/server.ts';
import { realClock } from '../../base/clock.ts';
import { silentLog } from '../../base/log.ts';
import { seededRandom, type Random } from '../../base/random.ts';
import { holderOf, type Lease } from '../../kube/election/lease.ts';
import { Audit } from './audit.ts';
import { Line } from './line.ts';
import type { ParticipantOptions } from './participant.ts';

const PROGRAM = join(import.meta.dirname, 'participant.ts');
const NAMESPACE = 'default';
const HOUR = 3_600_000;
const SKEWS = [0, 5 * HOUR, -7 * HOUR, 26 * HOUR, -90_000];
/** Of 15, 10 and 2 seconds a tenth or so; a lease is whole seconds long. */
const PACE = { leaseDurationMs: 2_000, renewDeadlineMs: 1_300, retryPeriodMs: 250 };

/** One process that takes part, and its own line to the server. */
export interface Participant {
  identity: string;
  child: ChildProcess;
  line: Line;
  /** The exit code, or the signal that ended it. */
  ended: Promise<number | string>;
}

/** Three processes that elect one leader among them, on one API server in this process. */
export class Participants {
  readonly server: ApiServer;
  readonly audit: Audit;
  readonly random: Random;
  readonly #planted: string;
  /** All there ever were: what a line holds back arrives after its process ended. */
  readonly #lines: Line[] = [];
  readonly #running = new Map<string, Participant>();
  #started = 0;
  #isOver = false;

  private constructor(server: ApiServer, planted: string) {
    this.server = server;
    this.audit = new Audit(server.hooks.storage);
    this.random = seededRandom(7);
    this.#planted = planted;
  }

  /** @param planted - a bug that all of them have; '' for none */
  static async start(planted = ''): Promise<Participants> {
    const server = await startApiServer({ clock: realClock, random: seededRandom(1), log: silentLog });
    for (const name of ['target', 'regardless']) {
      server.add({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: NAMESPACE } });
    }
    const made = new Participants(server, planted);
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
    return this.#until(withinMs, 'a leader that writes', () => {
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
    await this.#until(withinMs, `a leader after ${last.identity}`, () => {
      return this.audit.writes.slice(from).find((write) => write.epoch > epoch && write.identity !== last.identity);
    });
  }

  async #until<T>(ms: number, what: string, look: () => T | undefined): Promise<T> {
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
    const line = await Line.to(Number(new URL(this.server.url).port));
    this.#lines.push(line);
    if (this.#isOver) return line[Symbol.asyncDispose]();
    const skewMs = SKEWS[this.#started % SKEWS.length] ?? 0;
    const access = { server: `https://127.0.0.1:${line.port}`, origin: 'test', token: this.server.token, ca: { data: this.server.caPem } };
    const options: ParticipantOptions = { access, identity, namespace: NAMESPACE, skewMs, planted: this.#planted, ...PACE };
    const child = spawn(process.execPath, [PROGRAM], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { PATH: process.env['PATH'], PARTICIPANT: JSON.stringify(options) },
    });
    const ended = once(child, 'exit').then(([code, signal]) => (code ?? signal) as number | string);
    this.#running.set(identity, { identity, child, line, ended });
    void ended.then(async () => {
      this.#running.delete(identity);
      if (!this.#isOver) await this.#join();
    });
  }
}
