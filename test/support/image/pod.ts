import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DaemonPlan } from '../real-parts/daemon.ts';
import type { ImageConfig } from './layout.ts';

/** Of a pod template, what matters here. */
export type PodSpec = {
  securityContext: { runAsUser: number; runAsGroup: number };
  containers: Container[];
  volumes?: { name: string; configMap: { name: string } }[];
};
export interface Container {
  name: string;
  args: string[];
  ports: { name: string; containerPort: number }[];
  livenessProbe: Probe;
  readinessProbe: Probe;
  securityContext: { readOnlyRootFilesystem: boolean };
  volumeMounts?: { name: string; mountPath: string }[];
}
type Probe = { httpGet: { path: string; port: string } };

const ACCOUNT_DIR = '/var/run/secrets/kubernetes.io/serviceaccount';

/** As a container runtime: the root read-only, with /proc, and the program as the numeric user, who gets no other rights. */
const CONTAINER = `set -e
root=$1 user=$2; shift 2
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount --bind /dev "$root/dev"
while [ "$1" != -- ]; do mount --bind "$1" "$root$2"; shift 2; done
shift
mount -o remount,ro,bind "$root"
exec setpriv --no-new-privs chroot --userspec="$user" "$root" "$@"`;

/** @param mounts - folders by their place in the container */
const inRoot = (root: string, user: string, mounts: ReadonlyMap<string, string>, command: readonly string[]): string[] => {
  // Places that a runtime mounts something at.
  for (const place of ['/proc', '/dev', ...mounts.keys()]) mkdirSync(join(root, place), { recursive: true });
  const pairs = [...mounts].flatMap(([place, folder]) => [folder, place]);
  return ['--mount', '--pid', '--fork', '--kill-child', 'sh', '-c', CONTAINER, 'sh', root, user, ...pairs, '--', ...command];
};

/** How to run the image's entry point as the image says. @param args - behind the entry point */
export function command(root: string, { config }: ImageConfig, args: readonly string[], entry = config.Entrypoint) {
  const env = Object.fromEntries(config.Env.map((line) => line.split(/=(.*)/s, 2))) as Record<string, string>;
  return {
    program: 'unshare',
    args: inRoot(root, config.User, new Map(), [...entry, ...args]),
    env: { ...env, PATH: `${env['PATH']}:/bin:/sbin` },
  };
}

/** What it prints. */
export function printed(root: string, config: ImageConfig, args: readonly string[], entry?: string[]): string {
  const run = command(root, config, args, entry);
  return execFileSync(run.program, run.args, { encoding: 'utf8', env: run.env });
}

export interface PodPlace {
  /** Where the image is unpacked: of this pod alone. */
  root: string;
  config: ImageConfig;
  /** A folder for what the kubelet would mount. */
  home: string;
  plane: { url: string; ca: string };
  namespace: string;
  /** Of its ServiceAccount. */
  token: string;
  /** Data of the ConfigMaps that it mounts, by name. */
  configMaps?: Readonly<Record<string, Record<string, string>>>;
}

/** How to run the only container of a pod as the kubelet would: its arguments, user and account's files; in this machine's network, since there is no other. */
export function podPlan(
  name: string,
  { containers, securityContext, volumes = [] }: PodSpec,
  place: PodPlace,
): DaemonPlan & { probes: Record<'live' | 'ready', string> } {
  const [container] = containers;
  if (container === undefined) throw new Error(`${name} has no container`);
  if (!container.securityContext.readOnlyRootFilesystem) throw new Error(`${name} may write to its root`);
  const { root, config, home, plane, token, namespace, configMaps = {} } = place;
  const folder = (name: string, files: Record<string, string>): string => {
    const path = join(home, name);
    mkdirSync(path, { recursive: true });
    for (const [file, text] of Object.entries(files)) writeFileSync(join(path, file), text);
    return path;
  };
  const mounts = new Map([[ACCOUNT_DIR, folder('account', { token, 'ca.crt': plane.ca, namespace })]]);
  for (const { name: volume, mountPath } of container.volumeMounts ?? []) {
    const named = volumes.find(({ name }) => name === volume)?.configMap.name ?? '';
    mounts.set(mountPath, folder(volume, configMaps[named] ?? {}));
  }
  const { hostname, port } = new URL(plane.url);
  const env = [...config.config.Env, `KUBERNETES_SERVICE_HOST=${hostname}`, `KUBERNETES_SERVICE_PORT=${port}`];
  const user = `${securityContext.runAsUser}:${securityContext.runAsGroup}`;
  const command = [...config.config.Entrypoint, ...container.args];
  const url = ({ httpGet }: Probe): string => {
    const found = container.ports.find(({ name }) => name === httpGet.port);
    return `http://127.0.0.1:${found?.containerPort}${httpGet.path}`;
  };
  const probes = { live: url(container.livenessProbe), ready: url(container.readinessProbe) };
  const others = env.filter((line) => !line.startsWith('PATH='));
  const args = ['-i', 'PATH=/usr/sbin:/usr/bin:/sbin:/bin', ...others, 'unshare', ...inRoot(root, user, mounts, command)];
  return { name, program: 'env', args, log: join(home, 'log'), home, ready: { url: probes.ready }, ca: plane.ca, probes };
}
