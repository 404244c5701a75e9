import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parse, stringify } from 'yaml';
import { kubeletExits } from '../../systemd/inside/kubelet.ts';
import { run } from '../../systemd/inside/program.ts';
import { property, settled, systemctl } from '../../systemd/inside/systemctl.ts';
import { eventually } from '../../../support/eventually.ts';
import { ask } from '../../../support/real-parts/release-kubelet.ts';

const DKC = ['/usr/lib/dkc/node', '/usr/lib/dkc/dkc.js'] as const;

/** Sets keys of the agent's configuration file, and resolves once the agent runs with them. */
export async function configureAgent(keys: Readonly<Record<string, unknown>>): Promise<void> {
  const path = '/etc/dkc/agent.yaml';
  writeFileSync(path, stringify({ ...(parse(readFileSync(path, 'utf8')) as object), ...keys }));
  systemctl('restart', 'dkc-agent.service');
  await settled();
}

/** One life of the kubelet. */
export interface KubeletLife {
  pid: string;
  /** When it began, on the monotonic clock, in microseconds. */
  began: string;
}

export const kubeletLife = (): KubeletLife => ({
  pid: property('kubelet.service', 'MainPID'),
  began: property('kubelet.service', 'ExecMainStartTimestampMonotonic'),
});

export const isHealthy = async (): Promise<boolean> => (await ask('http://127.0.0.1:10248/healthz'))?.status === 200;

/** The configuration that a living kubelet says it runs; undefined where none answers. */
export async function configz(): Promise<Record<string, unknown> | undefined> {
  const { status, body = '' } = (await ask('https://127.0.0.1:10250/configz')) ?? {};
  return status === 200 ? (JSON.parse(body) as { kubeletconfig: Record<string, unknown> }).kubeletconfig : undefined;
}

/** Waits for a kubelet that is healthy on the config with this number of pods, and still is a moment later: some die right after. */
export async function healthyOn(maxPods: number, within?: number): Promise<KubeletLife> {
  return eventually(
    `a healthy kubelet with maxPods ${maxPods}`,
    async () => {
      if ((await configz())?.['maxPods'] !== maxPods || !(await isHealthy())) return undefined;
      const life = kubeletLife();
      await sleep(150);
      return (await isHealthy()) && kubeletLife().pid === life.pid && life.pid !== '0' ? life : undefined;
    },
    within,
  );
}

/** Milliseconds since a moment of `performance.now()`. */
export const since = (from: number): number => Math.round(performance.now() - from);

/** Ends of a kubelet that nobody asked for. */
export const crashes = (): number => kubeletExits().filter((exit) => exit.result !== 'success').length;

/** Starts of the kubelet since this machine booted. */
export const starts = (): number => journal('kubelet.service').filter((line) => line.startsWith('Started kubelet.service')).length;

/** What the journal has of a unit, message by message. */
export function journal(unit: string): string[] {
  // What was said is written down a little later.
  run('journalctl', '--sync');
  return run('journalctl', '--no-pager', '-o', 'cat', '-u', unit).split('\n');
}

/** Runs a command of dkc as an admin of the node would. */
export function dkc(...args: string[]): { code: number | null; stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync(DKC[0], [DKC[1], ...args], { encoding: 'utf8' });
  return { code: status, stdout, stderr };
}

/** @throws where it does not end with 0; `dkc status` ends with 1 after a fallback */
export function dkcJson<T>(...args: string[]): T {
  const { code, stdout, stderr } = dkc(...args, '-o', 'json');
  if (code !== 0 && !(args[0] === 'status' && code === 1)) throw new Error(`dkc ${args.join(' ')} ended with ${code}: ${stderr}`);
  return JSON.parse(stdout) as T;
}
