import { readFileSync } from 'node:fs';
import { eventually } from '../../../support/eventually.ts';
import { SLEEPER, writeSleeper } from '../../../support/image/sleeper.ts';
import { run } from '../../systemd/inside/program.ts';
import { NODE } from './names.ts';
import type { ReleaseCluster } from './release-cluster.ts';

/** A pod of one container, as the API server tells of it, and its process on the machine. */
export interface Pod {
  phase: string;
  ready: boolean;
  containerID: string;
  restartCount: number;
  /** Process id and time of start. */
  process: string;
  /** By `kubectl logs`. */
  logs: string[];
}

interface Status {
  phase: string;
  conditions?: { type: string; status: string }[];
  containerStatuses?: { containerID: string; restartCount: number }[];
}

const NAME = 'sleeper';
const PODS = '/api/v1/namespaces/default/pods';
const busybox = (script: string): string[] => ['/bin/busybox', 'sh', '-c', script];

const manifest = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: NAME },
  spec: {
    nodeName: NODE,
    // There is no plugin that would make it a network of its own.
    hostNetwork: true,
    // Nobody makes tokens here.
    automountServiceAccountToken: false,
    containers: [
      {
        name: NAME,
        image: SLEEPER,
        imagePullPolicy: 'Never',
        // Another word for each start.
        command: busybox('read -r word </proc/sys/kernel/random/uuid; echo "started: $word"; exec /bin/busybox sleep infinity'),
        readinessProbe: { exec: { command: busybox('echo probed >>/probes') }, periodSeconds: 1 },
      },
    ],
  },
};

const ctr = (...args: string[]): string => run('ctr', '--namespace=k8s.io', ...args);

/** Gives containerd the image of the pod, and of the first container of each pod. */
export function importImage(): void {
  writeSleeper('/usr/lib/sleeper/busybox', '/run/sleeper.tar');
  ctr('images', 'import', '--snapshotter=native', '/run/sleeper.tar');
}

export class SleeperPod {
  readonly #cluster: ReleaseCluster;
  constructor(cluster: ReleaseCluster) {
    this.#cluster = cluster;
  }

  /** @returns once it runs */
  async start(): Promise<Pod> {
    await this.#cluster.api.send('POST', PODS, manifest);
    return this.seen();
  }

  /** What it is once the kubelet that runs now has probed it: it has taken over, or replaced, what the kubelet before has started. */
  async seen(): Promise<Pod> {
    const { pid } = await this.#ready();
    const probed = probes(pid);
    await eventually('another probe', () => probes(pid) !== probed);
    const { status, container, pid: process } = await this.#ready();
    const [, , , , , , , , , , , , , , , , , , , began] = readFileSync(`/proc/${process}/stat`, 'utf8').replace(/^.*\) /, '').split(' '); // prettier-ignore
    return {
      phase: status.phase,
      ready: isReady(status),
      ...container,
      process: `${process} since ${began}`,
      logs: this.#cluster.kubectl('logs', NAME).split('\n'),
    };
  }

  #ready() {
    return eventually('a pod that is Ready', async () => {
      const { status } = await this.#cluster.api.send<{ status: Status }>('GET', `${PODS}/${NAME}`);
      const [container] = status.containerStatuses ?? [];
      if (!isReady(status) || container === undefined) return undefined;
      const { containerID, restartCount } = container;
      const pid = taskOf(containerID);
      return pid === undefined ? undefined : { status, container: { containerID, restartCount }, pid };
    });
  }
}

const isReady = ({ conditions = [] }: Status): boolean => conditions.some(({ type, status }) => type === 'Ready' && status === 'True');

/** By `ctr tasks list`: the process that containerd runs for a container. */
function taskOf(containerID: string): string | undefined {
  const tasks = ctr('tasks', 'list').split('\n').map((line) => line.split(/\s+/)); // prettier-ignore
  return tasks.find(([id]) => containerID === `containerd://${id}`)?.[1];
}

/** How much the probes of a container have written. */
const probes = (pid: string): number => readFileSync(`/proc/${pid}/root/probes`).length;
