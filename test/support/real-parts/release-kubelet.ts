import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { mkdir, readdir, rmdir, writeFile } from 'node:fs/promises';
import { request as overHttp } from 'node:http';
import { request as overHttps } from 'node:https';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { kubeletCover, localKubelet } from './real-kubelet.ts';

export interface ReleaseKubeletPlan {
  /** The binary. */
  program: string;
  /** A folder of its own; several kubelets after each other may have the same, as restarts. */
  dir: string;
  /** Name of the node. */
  name: string;
  /** The whole configuration. */
  config: Readonly<Record<string, unknown>> | string;
  /** Of a registered one; without it the kubelet is standalone. */
  kubeconfig?: string;
  /** In a cgroup namespace of its own, where cgroupsPerQOS may be on. @default false */
  cgroups?: boolean;
  /** The kernel's settings cannot be written. @default false */
  sysctlsReadOnly?: boolean;
  /** Flags besides. */
  args?: readonly string[];
}

/** The end of a kubelet. */
export interface KubeletEnd {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/**
 * A configuration for a kubelet of 1.26 and newer in a test.
 * @param overrides - fields to add or replace; ports at least, as several kubelets share a machine
 */
export function releaseKubeletConfig(socket: string, overrides: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return {
    ...localKubelet,
    containerRuntimeEndpoint: `unix://${socket}`,
    // Machines of tests have cgroup v1, on which a kubelet from 1.35 on does not run without this.
    failCgroupV1: false,
    nodeStatusUpdateFrequency: '1s',
    ...overrides,
  };
}

/** A kubelet of a release, under the cover of the machine's settings. It ends with this process. */
export class ReleaseKubelet {
  readonly plan: ReleaseKubeletPlan;
  readonly ended: Promise<KubeletEnd>;
  readonly #child: ChildProcess;
  readonly #log: string;
  #end: KubeletEnd | undefined;

  private constructor(plan: ReleaseKubeletPlan, child: ChildProcess, log: string) {
    this.plan = plan;
    this.#child = child;
    this.#log = log;
    this.ended = new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code, signal) => {
        this.#end = { code, signal };
        resolve(this.#end);
      });
    });
  }

  /** Writes the configuration, and starts the kubelet on it. */
  static async start(plan: ReleaseKubeletPlan): Promise<ReleaseKubelet> {
    const { dir, program, name, config, kubeconfig, cgroups = false, sysctlsReadOnly = false, args: more = [] } = plan;
    for (const folder of ['root', 'pki', 'kubelet', 'pods']) await mkdir(join(dir, folder), { recursive: true });
    const file = join(dir, 'config.yaml');
    await writeFile(file, typeof config === 'string' ? config : stringify(config));
    const log = join(dir, 'kubelet.log');
    const output = openSync(log, 'w');
    const cover = ['--kubelet-dir', join(dir, 'kubelet'), '--pod-logs', join(dir, 'pods')];
    if (cgroups) cover.push('--cgroup', cgroupOf(name));
    if (sysctlsReadOnly) cover.push('--sysctls-read-only');
    const args = [
      `--config=${file}`,
      `--root-dir=${join(dir, 'root')}`,
      `--cert-dir=${join(dir, 'pki')}`,
      `--hostname-override=${name}`,
      ...more,
    ];
    if (kubeconfig !== undefined) args.push(`--kubeconfig=${kubeconfig}`);
    const child = spawn(kubeletCover, [...cover, '--', program, ...args, '-v=2'], { stdio: ['ignore', output, output] });
    closeSync(output);
    return new ReleaseKubelet(plan, child, log);
  }

  /** How it ended; undefined while it runs. */
  get end(): KubeletEnd | undefined {
    return this.#end;
  }

  /** Its log, line by line. */
  log(): string[] {
    return readFileSync(this.#log, 'utf8').trimEnd().split('\n');
  }

  /** It said that it is up: what ends it later may have been healthy before. */
  get hasStarted(): boolean {
    return this.log().some((line) => /"?Started kubelet"?$|"Started kubelet"/.test(line));
  }

  /** The line that says why it ended. */
  lastWords(): string {
    const lines = this.log();
    return lines.findLast((line) => /"command failed"|^panic: |^F\d{4} |^Error:|^E\d{4} .*err=/.test(line)) ?? lines.at(-1) ?? '';
  }

  async stop(): Promise<void> {
    if (this.#end === undefined) this.#child.kill('SIGTERM');
    await this.ended;
  }

  /** After its end: the cgroups that it and its cover made. */
  async removeCgroups(): Promise<void> {
    for (const hierarchy of await readdir('/sys/fs/cgroup')) await removeTree(join('/sys/fs/cgroup', hierarchy, cgroupOf(this.plan.name)));
    await removeTree(join('/sys/fs/cgroup', cgroupOf(this.plan.name)));
  }
}

const cgroupOf = (name: string): string => `dkc-test-${name}`;

/** Cgroups have files that nobody can remove; their folders go, the inner ones first. */
async function removeTree(dir: string): Promise<void> {
  const entries = await readdir(dir, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) if (entry.isDirectory()) await removeTree(join(dir, entry.name));
  await rmdir(dir).catch(() => {});
}

/** Answer of a URL within a second: status and body; undefined where there is none. */
export function ask(url: string): Promise<{ status: number; body: string } | undefined> {
  return new Promise((resolve) => {
    const send = url.startsWith('https:') ? overHttps : overHttp;
    const asked = send(url, { agent: false, rejectUnauthorized: false, timeout: 1000 }, (answer) => {
      let body = '';
      answer.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
      answer.on('error', () => resolve(undefined)).on('end', () => resolve({ status: answer.statusCode ?? 0, body }));
    });
    asked
      .on('timeout', () => asked.destroy())
      .on('error', () => resolve(undefined))
      .end();
  });
}
