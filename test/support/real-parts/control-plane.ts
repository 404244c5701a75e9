import { rmSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { eventually } from '../eventually.ts';
import { ApiHttp } from '../api-http.ts';
import { makeAuthority } from '../certificates.ts';
import type { Authority, KeyPair } from '../certificates.ts';
import { Daemon } from './daemon.ts';
import { freePorts } from './free-ports.ts';
import { builtRelease } from './release.ts';
import type { Release } from './release.ts';

export interface ControlPlaneOptions {
  /** Whose programs. @default builtRelease: 1.20.2 */
  release?: Release;
  /** Nodes that get a token `NAMEtoken`, of `system:node:NAME` in system:nodes. */
  nodes?: readonly string[];
  /** The feature gate, which servers of 1.26 and later do not have. @default true */
  dynamicKubeletConfig?: boolean;
  /** @default false */
  scheduler?: boolean;
  /** The value of `--controllers`, such as `garbagecollector,namespace`. Without it there is no controller-manager. */
  controllers?: string;
  extraTokens?: readonly { token: string; user: string; groups: readonly string[] }[];
  apiServerArgs?: readonly string[];
}

export type ControlPlanePart = 'etcd' | 'kube-apiserver' | 'kube-scheduler' | 'kube-controller-manager';

export interface ControlPlane {
  /** `https://127.0.0.1:PORT`. */
  url: string;
  /** PEM; of the API server's certificate and of client certificates. */
  ca: string;
  /** Of `admin` in system:masters. */
  adminToken: string;
  nodeToken(name: string): string;
  /** YAML. @param token - whose. @default the admin's */
  kubeconfig(token?: string): string;
  readonly release: Release;
  /** A certificate of 127.0.0.1 that {@link ca} vouches for, for a program that serves beside this one. */
  servingCertificate(): Promise<KeyPair>;
  /** Ends the API server and starts it anew: same port, same data. */
  restartApiServer(): Promise<void>;
  /** Keeps what etcd has now; `restore` sets it back to that: versions go on from there, as with a snapshot. Both restart etcd and the API server. */
  backUp(): Promise<void>;
  restore(): Promise<void>;
  /** Makes etcd forget all versions before now. The API server still tells changes out of its memory until it is restarted. */
  compact(): Promise<void>;
  /** Ends all of it; the data is gone. Twice is harmless. */
  stop(): Promise<void>;
}

type Started = ControlPlaneOptions & { release: Release };

const ATTEMPTS = 3;
const RESTART_GRACE_MS = 3_000;
const ADMIN_TOKEN = 'admintoken';
const SCHEDULER_TOKEN = 'schedulertoken';
/** Of programs that can serve without TLS: the flags for it are gone in 1.24. */
export const hasInsecurePorts = ({ minor }: Release): boolean => minor < 24;
const nodeToken = (name: string): string => `${name}token`;

/**
 * Starts etcd and a kube-apiserver with empty data, and a scheduler and a controller-manager where asked for; unpacks or builds them first
 * where the cache has none. Everything is ready when this returns, and ends with this process at the latest.
 * @throws {RealPartsUnavailable} where this machine cannot have the programs
 */
export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const names: ControlPlanePart[] = ['etcd', 'kube-apiserver'];
  if (options.scheduler === true) names.push('kube-scheduler');
  if (options.controllers !== undefined) names.push('kube-controller-manager');
  const release = options.release ?? builtRelease;
  const programs = await release.programs(names);
  for (let attempt = 1; ; attempt++) {
    try {
      return await start(programs, names, { ...options, release });
    } catch (error) {
      // somebody else took one of the ports that were free
      if (attempt === ATTEMPTS || !/address already in use/.test(String(error))) throw error;
    }
  }
}

type Programs = Partial<Record<ControlPlanePart, string>>;

async function start(programs: Programs, names: readonly ControlPlanePart[], options: Started): Promise<ControlPlane> {
  const home = await mkdtemp(join(tmpdir(), 'dkc-control-plane-'));
  const authority = await makeAuthority();
  const daemons = new Map<ControlPlanePart, Daemon>();
  const atExit = (): void => {
    for (const daemon of daemons.values()) daemon.killNow();
    for (const directory of [home, authority.directory]) rmSync(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 });
  };
  process.once('exit', atExit);
  const stop = async (): Promise<void> => {
    for (const daemon of [...daemons.values()].reverse()) await daemon.kill();
    process.off('exit', atExit);
    atExit();
  };
  try {
    const files = await writeFiles(home, authority, options);
    const [etcdPort = 0, apiPort = 0, schedulerPort = 0, controllersPort = 0] = await freePorts(4);
    const url = `https://127.0.0.1:${apiPort}`;
    const etcdUrl = `http://127.0.0.1:${etcdPort}`;
    const kubeconfig = (token = ADMIN_TOKEN): string => kubeconfigText(url, authority.ca, token);
    await writeFile(join(home, 'scheduler.kubeconfig'), kubeconfig(SCHEDULER_TOKEN));
    await writeFile(join(home, 'admin.kubeconfig'), kubeconfig());
    const args: Record<ControlPlanePart, string[]> = {
      etcd: etcdArgs(home, etcdUrl),
      'kube-apiserver': apiServerArgs(files, apiPort, etcdUrl, options),
      'kube-scheduler': clientArgs(files, join(home, 'scheduler.kubeconfig'), schedulerPort, options.release),
      'kube-controller-manager': [
        ...clientArgs(files, join(home, 'admin.kubeconfig'), controllersPort, options.release),
        `--controllers=${options.controllers}`,
        `--service-account-private-key-file=${files.serviceAccountKey}`,
        `--root-ca-file=${files.ca}`,
      ],
    };
    const ready: Record<ControlPlanePart, { url: string; token?: string }> = {
      etcd: { url: `${etcdUrl}/health` },
      'kube-apiserver': { url: `${url}/readyz`, token: ADMIN_TOKEN },
      'kube-scheduler': { url: `https://127.0.0.1:${schedulerPort}/healthz` },
      'kube-controller-manager': { url: `https://127.0.0.1:${controllersPort}/healthz` },
    };
    const daemonOf = (name: ControlPlanePart): Daemon => {
      const { [name]: program = name } = programs;
      // As a static pod. kube-scheduler 1.36.3 ends ("Scheduler cache is corrupted") when the API server bound a pod, restarted before it answered, and
      // the pod had another node in the scheduler's next attempt.
      const restarts = name === 'kube-scheduler';
      const log = join(home, `${name}.log`);
      const daemon = new Daemon({ name, program, args: args[name], log, home, ready: ready[name], ca: authority.ca, restarts });
      daemons.set(name, daemon);
      return daemon;
    };
    const withoutEtcd = async (work: () => Promise<void>): Promise<void> => {
      const [server, etcd] = [daemons.get('kube-apiserver'), daemons.get('etcd')];
      await server?.stop(RESTART_GRACE_MS);
      await etcd?.stop(RESTART_GRACE_MS);
      await work();
      await etcd?.start();
      await server?.start();
    };
    for (const name of names) {
      await daemonOf(name).start();
      if (name === 'kube-apiserver') await firstNamespaces(new ApiHttp({ url, ca: authority.ca, token: ADMIN_TOKEN }));
    }
    return {
      release: options.release,
      url,
      ca: authority.ca,
      adminToken: ADMIN_TOKEN,
      nodeToken,
      kubeconfig,
      servingCertificate: () => authority.server('IP:127.0.0.1'),
      async restartApiServer() {
        const server = daemons.get('kube-apiserver');
        await server?.stop(RESTART_GRACE_MS);
        await server?.start();
      },
      backUp: () => withoutEtcd(() => cp(join(home, 'etcd'), join(home, 'backup'), { recursive: true })),
      restore: () =>
        withoutEtcd(async () => {
          await rm(join(home, 'etcd'), { recursive: true });
          await cp(join(home, 'backup'), join(home, 'etcd'), { recursive: true });
        }),
      compact: () => compact(etcdUrl),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

type Files = Awaited<ReturnType<typeof writeFiles>>;

/** Paths of what the programs read. */
async function writeFiles(home: string, authority: Authority, options: ControlPlaneOptions) {
  const file = async (name: string, text: string): Promise<string> => {
    const path = join(home, name);
    await writeFile(path, text, { mode: 0o600 });
    return path;
  };
  const server = await authority.server('IP:127.0.0.1,IP:10.96.0.1,DNS:localhost,DNS:kubernetes');
  const kubelets = await authority.client('kube-apiserver-kubelet-client', ['system:masters']);
  const accounts = await authority.server();
  const certDir = join(home, 'certs');
  await mkdir(certDir);
  return {
    certDir,
    ca: await file('ca.crt', authority.ca),
    serverCert: await file('server.crt', server.cert),
    serverKey: await file('server.key', server.key),
    kubeletClientCert: await file('kubelet-client.crt', kubelets.cert),
    kubeletClientKey: await file('kubelet-client.key', kubelets.key),
    serviceAccountCert: await file('accounts.crt', accounts.cert),
    serviceAccountKey: await file('accounts.key', accounts.key),
    tokens: await file('tokens.csv', tokenLines(options)),
  };
}

function tokenLines({ nodes = [], extraTokens = [] }: ControlPlaneOptions): string {
  const all = [
    { token: ADMIN_TOKEN, user: 'admin', groups: ['system:masters'] },
    { token: SCHEDULER_TOKEN, user: 'system:kube-scheduler', groups: [] },
    ...nodes.map((name) => ({ token: nodeToken(name), user: `system:node:${name}`, groups: ['system:nodes'] })),
    ...extraTokens,
  ];
  return all.map(({ token, user, groups }) => `${token},${user},${user},"${groups.join(',')}"\n`).join('');
}

function etcdArgs(home: string, url: string): string[] {
  // A single member never calls its peers' address, and its listener may be anywhere.
  const peer = 'http://127.0.0.1:1';
  return [
    '--name=only',
    `--data-dir=${join(home, 'etcd')}`,
    `--listen-client-urls=${url}`,
    `--advertise-client-urls=${url}`,
    '--listen-peer-urls=http://127.0.0.1:0',
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=only=${peer}`,
  ];
}

function apiServerArgs(files: Files, port: number, etcdUrl: string, options: Started): string[] {
  return [
    `--etcd-servers=${etcdUrl}`,
    '--bind-address=127.0.0.1',
    '--advertise-address=127.0.0.1',
    `--secure-port=${port}`,
    ...(hasInsecurePorts(options.release) ? ['--insecure-port=0'] : []),
    `--cert-dir=${files.certDir}`,
    `--tls-cert-file=${files.serverCert}`,
    `--tls-private-key-file=${files.serverKey}`,
    `--client-ca-file=${files.ca}`,
    `--token-auth-file=${files.tokens}`,
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${files.serviceAccountCert}`,
    `--service-account-signing-key-file=${files.serviceAccountKey}`,
    '--authorization-mode=Node,RBAC',
    '--enable-admission-plugins=NodeRestriction',
    // nobody here makes accounts' tokens, or takes the taint away again
    '--disable-admission-plugins=ServiceAccount,TaintNodesByCondition',
    '--endpoint-reconciler-type=none',
    '--allow-privileged',
    '--service-cluster-ip-range=10.96.0.0/16',
    `--kubelet-client-certificate=${files.kubeletClientCert}`,
    `--kubelet-client-key=${files.kubeletClientKey}`,
    '--kubelet-preferred-address-types=InternalIP',
    ...(options.release.minor < 26 ? [`--feature-gates=DynamicKubeletConfig=${options.dynamicKubeletConfig ?? true}`] : []),
    ...(options.apiServerArgs ?? []),
  ];
}

/** Of a scheduler or controller-manager. A file of `--config` would undo `--port=0`. */
function clientArgs(files: Files, kubeconfig: string, port: number, release: Release): string[] {
  return [
    `--kubeconfig=${kubeconfig}`,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
    '--authentication-tolerate-lookup-failure=true',
    '--leader-elect=false',
    '--bind-address=127.0.0.1',
    `--secure-port=${port}`,
    ...(hasInsecurePorts(release) ? ['--port=0'] : []),
    `--cert-dir=${files.certDir}`,
    `--tls-cert-file=${files.serverCert}`,
    `--tls-private-key-file=${files.serverKey}`,
  ];
}

/** The API server makes them a little after it says that it is ready. */
async function firstNamespaces(api: ApiHttp): Promise<void> {
  const paths = ['default', 'kube-system', 'kube-public', 'kube-node-lease'].map((name) => `/api/v1/namespaces/${name}`);
  const all = async (): Promise<true | undefined> => {
    const answers = await Promise.all(paths.map((path) => api.get(path)));
    return answers.every(({ code }) => code === 200) ? true : undefined;
  };
  await eventually('kube-apiserver makes its first namespaces', all, 60_000);
}

async function compact(etcdUrl: string): Promise<void> {
  const ask = async (path: string, body: object): Promise<{ header: { revision: string } }> => {
    const response = await fetch(`${etcdUrl}/v3/kv/${path}`, { method: 'POST', body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`Cannot compact etcd: ${path} got ${response.status} ${await response.text()}`);
    return (await response.json()) as { header: { revision: string } };
  };
  const { header } = await ask('range', { key: Buffer.from('none').toString('base64') });
  await ask('compaction', { revision: header.revision, physical: true });
}

function kubeconfigText(server: string, ca: string, token: string): string {
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'real', cluster: { server, 'certificate-authority-data': Buffer.from(ca).toString('base64') } }],
    users: [{ name: 'user', user: { token } }],
    contexts: [{ name: 'real', context: { cluster: 'real', user: 'user' } }],
    'current-context': 'real',
  });
}
