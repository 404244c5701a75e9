import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Daemon } from '../../test/real-parts/daemon.ts';
import { freePorts } from '../../test/real-parts/free-ports.ts';
import { realParts } from '../../test/real-parts/real-kubelet.ts';
import { usageOf } from './proc.ts';
import type { Usage } from './proc.ts';
import type { Place, User } from './site.ts';

/** A controller in a process of its own. */
export interface Subject extends AsyncDisposable {
  user: User;
  /** @throws when it has ended */
  readonly usage: () => Usage;
}

/** What is to be controlled. */
export interface Work {
  controller: 'daemonset' | 'statefulset';
  /** Sets reconciled at once, of both. */
  workers: number;
  /** Of kube-controller-manager, to say so. */
  workersFlag?: string;
}

/** kube-controller-manager 1.20 cannot be told another number. */
const daemonSetWork: Work = { controller: 'daemonset', workers: 2 };
/** More than either ever asks for: the client's own limit is lifted. */
const NO_LIMIT = 100_000;

/** Starts it with caches that are full, or soon are, and without leader election. */
export async function startSubject(user: User, place: Place, work: Work = daemonSetWork): Promise<Subject> {
  const [port = 0] = await freePorts(1);
  const kubeconfig = await place.kubeconfig(user);
  const commands = { dkc: ours, 'kube-controller-manager': theirs };
  const { program, args, ready } = await commands[user]({ kubeconfig, port, place, work });
  const log = join(place.directory, `${user}.log`);
  const daemon = new Daemon({ name: user, program, args, log, home: place.directory, ready: { url: ready }, ca: '' });
  await daemon.start();
  return {
    user,
    usage: () => processUsage(daemon.pid ?? 0),
    // Not killed at once: a profile is written at the end.
    [Symbol.asyncDispose]: () => daemon.stop(10_000),
  };
}

export function processUsage(pid: number): Usage {
  const text = (file: string): string => readFileSync(`/proc/${pid}/${file}`, 'utf8');
  return usageOf(text('stat'), text('status'));
}

interface Asked {
  kubeconfig: string;
  port: number;
  place: Place;
  work: Work;
}
type Command = (asked: Asked) => Promise<{ program: string; args: string[]; ready: string }>;

/** The file that is installed, with the environment that docs/cache.md advises, and the flags of DKC_NODE_FLAGS, such as `--cpu-prof`. */
const ours: Command = ({ kubeconfig, port, place: { directory }, work }) => {
  const flags = (process.env['DKC_NODE_FLAGS'] ?? '').split(' ').filter(Boolean);
  const command = ['controllers', 'run', `--controllers=${work.controller}`, `--kubeconfig=${kubeconfig}`, '--leader-elect=false'];
  const more = [`--concurrent-syncs=${work.workers}`, `--metrics-bind-address=127.0.0.1:${port}`];
  return Promise.resolve({
    program: 'env',
    // Profiles go to DKC_PROFILES.
    args: [`--chdir=${process.env['DKC_PROFILES'] ?? directory}`, ...environment, process.execPath, ...flags, bundle, ...command, ...more],
    ready: `http://127.0.0.1:${port}/readyz`,
  });
};

const bundle = join(import.meta.dirname, '../../dist/dkc.js');
const environment = ['MALLOC_ARENA_MAX=1', 'MALLOC_TRIM_THRESHOLD_=65536'];

const theirs: Command = async ({ kubeconfig, port, work }) => {
  const more = work.workersFlag === undefined ? [] : [`${work.workersFlag}=${work.workers}`];
  return managerCommand({ kubeconfig, port, controllers: work.controller, more });
};

/** @param controllers - the value of `--controllers` */
async function managerCommand({
  kubeconfig,
  port,
  controllers,
  more,
}: Pick<Asked, 'kubeconfig' | 'port'> & { controllers: string; more: readonly string[] }) {
  const { dir } = await realParts(['kube-controller-manager']);
  return {
    program: join(dir, 'kube-controller-manager'),
    args: [
      `--kubeconfig=${kubeconfig}`,
      `--controllers=${controllers}`,
      '--leader-elect=false',
      `--kube-api-qps=${NO_LIMIT}`,
      `--kube-api-burst=${NO_LIMIT}`,
      '--address=127.0.0.1',
      `--port=${port}`,
      '--secure-port=0',
      ...more,
    ],
    ready: `http://127.0.0.1:${port}/healthz`,
  };
}

/** The garbage collector that both work beside, in a process of its own: what it costs is nobody's. */
export async function startCollector(place: Place): Promise<AsyncDisposable> {
  const [port = 0] = await freePorts(1);
  const command = await managerCommand({ kubeconfig: await place.kubeconfig(), port, controllers: 'garbagecollector', more: [] });
  const { program, args, ready } = command;
  const name = 'garbage-collector';
  const daemon = new Daemon({
    name,
    program,
    args,
    log: join(place.directory, `${name}.log`),
    home: place.directory,
    ready: { url: ready },
    ca: '',
  });
  await daemon.start();
  return { [Symbol.asyncDispose]: () => daemon.stop(10_000) };
}
