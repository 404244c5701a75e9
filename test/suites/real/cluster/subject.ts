import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ControlPlane } from '../../../support/real-parts/control-plane.ts';
import type { ProgramOptions } from '../../../support/real-parts/controller-manager.ts';
import { Daemon } from '../../../support/real-parts/daemon.ts';
import type { DaemonPlan } from '../../../support/real-parts/daemon.ts';
import { freePorts } from '../../../support/real-parts/free-ports.ts';

/** A process under test, of upstream or ours as people run it. `stop` lets it finish what it is at, `kill` does not; `start` is for after these. */
export type Subject = Awaited<ReturnType<typeof startProcess>>;

/** A folder that goes with the subject, a kubeconfig of the admin, and a port on which nobody listens. */
export type Place = Pick<ProgramOptions, 'home' | 'kubeconfig' | 'port'>;

const GRACE_MS = 5_000;

/** Root of our source tree, with `cli/main.ts`. */
export const root = join(import.meta.dirname, '../../../..');

/** Starts a process for a control plane; it works when this returns. */
export async function startProcess(
  name: string,
  plane: Pick<ControlPlane, 'kubeconfig' | 'ca'>,
  planFor: (place: Place) => Promise<Pick<DaemonPlan, 'program' | 'args' | 'ready'>>,
) {
  const home = await mkdtemp(join(tmpdir(), 'dkc-subject-'));
  const kubeconfig = join(home, 'kubeconfig');
  await writeFile(kubeconfig, plane.kubeconfig(), { mode: 0o600 });
  const [port = 0] = await freePorts(1);
  const log = join(home, 'log');
  const plan = await planFor({ home, kubeconfig, port });
  const daemon = new Daemon({ name, home, log, ca: plane.ca, ...plan });
  await daemon.start();
  return {
    get pid() {
      return daemon.pid;
    },
    logFile: log,
    stop: () => daemon.stop(GRACE_MS),
    kill: () => daemon.kill(),
    start: () => daemon.start(),
    /** The end of its log. */
    log: () => daemon.tail(),
    // Without keeping the connection: the process may be killed before the next question.
    metrics: async () => (await fetch(new URL('/metrics', plan.ready.url), { headers: { connection: 'close' } })).text(),
    async [Symbol.asyncDispose]() {
      await daemon.stop(GRACE_MS);
      await rm(home, { recursive: true, force: true });
    },
  };
}
