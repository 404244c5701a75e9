import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { property } from './systemctl.ts';
import { eventually } from '../../../support/eventually.ts';

/** One start of the stand-in, as it notes it itself. */
export interface KubeletStart {
  /** Unix time of the process's start, in ms. */
  at: number;
  pid: number;
  config: string;
  sha256: string;
  maxPods: unknown;
}

/** One line of /run/dkc/kubelet-exits. */
export interface KubeletExit {
  time: string;
  result: string;
  code: string;
  status: string;
  sha256: string;
}

export const EFFECTIVE = '/var/lib/dkc/kubelet.yaml';
export const LOCAL = '/var/lib/kubelet/config.yaml';
export const EXITS = '/run/dkc/kubelet-exits';

const lines = (path: string): string[] => (existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : []);

export const kubeletStarts = (): KubeletStart[] => lines('/var/log/kubelet-starts.jsonl').map((line) => JSON.parse(line) as KubeletStart);

export const kubeletPid = (): string => property('kubelet.service', 'MainPID');

export function kubeletExits(): KubeletExit[] {
  return lines(EXITS).map((line) => {
    const [time = '', result = '', code = '', status = '', sha256 = '', ...more] = line.split(' ');
    if (more.length > 0 || sha256 === '') throw new Error(`Not five fields: ${line}`);
    return { time, result, code, status, sha256 };
  });
}

export const sha256Of = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex');

/** Waits for the kubelet's start number `n`, from 1 on. */
export const kubeletStart = (n: number, within?: number): Promise<KubeletStart> =>
  eventually(`start ${n} of the kubelet`, () => kubeletStarts()[n - 1], within);

/** Waits until what systemd runs as `unit`, if anything, has noted its start: that takes as long as loading its program. */
export async function startIsNoted(unit: string): Promise<void> {
  await eventually(`the note of ${unit}`, () => {
    const pid = property(unit, 'MainPID');
    return pid === '0' || kubeletStarts().some((start) => String(start.pid) === pid) ? true : undefined;
  });
}

/** A configuration that differs from the machine's local one in `fields` alone. */
export function kubeletConfig(fields: Readonly<Record<string, unknown>> = {}): string {
  const all = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration', maxPods: 100, ...fields };
  return Object.entries(all)
    .map(([key, value]) => `${key}: ${typeof value === 'string' ? value : JSON.stringify(value)}\n`)
    .join('');
}
