import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { launcherFlags } from '../scripts/launcher-flags.ts';
import { Daemon } from '../test/support/real-parts/daemon.ts';
import type { DaemonPlan } from '../test/support/real-parts/daemon.ts';
import { bundle, checkout } from './checkout.ts';
import { usageOf } from './daemonset/proc.ts';
import type { Usage } from './daemonset/proc.ts';

/** The measured program, in a separate process. */
export interface Subject<User extends string> extends AsyncDisposable {
  user: User;
  /** @throws if the process has ended */
  readonly usage: () => Usage;
}

/** Command line of a subject. */
export type Plan = Pick<DaemonPlan, 'program' | 'args' | 'ready'>;

/** Starts a subject in a separate directory and waits until it is ready. @param ca - PEM to verify its certificate, if it serves TLS */
export async function startPlan<User extends string>(user: User, plan: Plan, directory: string, ca = ''): Promise<Subject<User>> {
  const daemon = new Daemon({ name: user, ...plan, log: join(directory, `${user}.log`), home: directory, ca });
  await daemon.start();
  return {
    user,
    usage: () => processUsage(daemon.pid ?? 0),
    // Not killed at once, since it writes a profile at its end.
    [Symbol.asyncDispose]: () => daemon.stop(10_000),
  };
}

const environment = ['MALLOC_ARENA_MAX=1', 'MALLOC_TRIM_THRESHOLD_=65536'];

/**
 * Plan for the bundle, with the environment of the image, the launcher's Node flags, and those of DKC_NODE_FLAGS, such as `--cpu-prof`; profiles
 * are written to DKC_PROFILES.
 * @param port - port of its metrics
 */
export function dkcPlan(command: readonly string[], { port, directory }: { port: number; directory: string }): Plan {
  const flags = (process.env['DKC_NODE_FLAGS'] ?? '').split(' ').filter(Boolean);
  const home = `--chdir=${process.env['DKC_PROFILES'] ?? directory}`;
  return {
    program: 'env',
    args: [
      home,
      ...environment,
      process.execPath,
      ...launcherFlags(checkout),
      ...flags,
      bundle,
      ...command,
      `--metrics-bind-address=127.0.0.1:${port}`,
    ],
    ready: { url: `http://127.0.0.1:${port}/readyz` },
  };
}

/** @throws if there is no such process */
function processUsage(pid: number): Usage {
  const text = (file: string): string => readFileSync(`/proc/${pid}/${file}`, 'utf8');
  return usageOf(text('stat'), text('status'));
}
