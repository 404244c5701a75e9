import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { Daemon, type DaemonPlan } from '../../test/real-parts/daemon.ts';
import { freePorts } from '../../test/real-parts/free-ports.ts';
import { kubeScheduler } from '../../test/real/scheduler/kube-scheduler.ts';
import type { Usage } from '../daemonset/proc.ts';
import type { Place } from '../daemonset/site.ts';
import { processUsage } from '../daemonset/subject.ts';

export type Who = 'dkc' | 'kube-scheduler';

/** A scheduler in a process of its own. */
export interface Subject extends AsyncDisposable {
  user: Who;
  /** @throws when it has ended */
  readonly usage: () => Usage;
}

/** Starts it, without leader election; it works when this returns. It places pods that name no scheduler. */
export async function startScheduler(who: Who, place: Pick<Place, 'kubeconfig' | 'directory'>): Promise<Subject> {
  const [port = 0] = await freePorts(1);
  const kubeconfig = await place.kubeconfig();
  const plan = await commands[who]({ kubeconfig, port, directory: place.directory });
  const daemon = new Daemon({
    name: who,
    ...plan,
    log: join(place.directory, `${who}.log`),
    home: place.directory,
    ca: '',
  });
  await daemon.start();
  return {
    user: who,
    usage: () => processUsage(daemon.pid ?? 0),
    // Not killed at once: a profile is written at the end.
    [Symbol.asyncDispose]: () => daemon.stop(10_000),
  };
}

interface Asked {
  kubeconfig: string;
  port: number;
  directory: string;
}
type Command = (asked: Asked) => Promise<Pick<DaemonPlan, 'program' | 'args' | 'ready'>>;

const bundle = join(import.meta.dirname, '../../dist/dkc.js');
const environment = ['MALLOC_ARENA_MAX=1', 'MALLOC_TRIM_THRESHOLD_=65536'];

/** The file that is installed, with the environment that docs/cache.md advises; flags of the engine and where profiles go as for controllers. */
const ours: Command = async ({ kubeconfig, port, directory }) => {
  const flags = (process.env['DKC_NODE_FLAGS'] ?? '').split(' ').filter(Boolean);
  const config = join(directory, 'dkc-scheduler.yaml');
  await writeFile(config, stringify({ leaderElection: { enabled: false } }));
  const command = ['scheduler', 'run', `--config=${config}`, `--kubeconfig=${kubeconfig}`, `--metrics-bind-address=127.0.0.1:${port}`];
  return {
    program: 'env',
    args: [`--chdir=${process.env['DKC_PROFILES'] ?? directory}`, ...environment, process.execPath, ...flags, bundle, ...command],
    ready: { url: `http://127.0.0.1:${port}/readyz` },
  };
};

/** Nodes to score as it comes, which is a share of them on clusters of more than 100. */
const theirs: Command = ({ kubeconfig, port, directory }) => kubeScheduler({ home: directory, kubeconfig, port });

const commands: Readonly<Record<Who, Command>> = { dkc: ours, 'kube-scheduler': theirs };
