import { cpuList } from './command-line.ts';
import type { HostFacts } from '../config/contract.ts';

/** Reads the state files that a kubelet keeps of its CPU and memory managers. Pure; undefined where the text is not of the form it should have. */

export function cpuManagerState(text: string): HostFacts['cpuManagerState'] {
  const state = parsed(text);
  const policyName = state?.['policyName'];
  if (typeof policyName !== 'string') return undefined;
  const shared = state?.['defaultCpuSet'];
  const sharedCpus = typeof shared === 'string' && shared !== '' ? cpuList(shared) : undefined;
  return { policyName, ...(sharedCpus === undefined ? {} : { sharedCpus }) };
}

export function memoryManagerState(text: string): HostFacts['memoryManagerState'] {
  const state = parsed(text);
  const policyName = state?.['policyName'];
  if (typeof policyName !== 'string') return undefined;
  const reserved: Record<string, bigint> = {};
  for (const [node, value] of Object.entries(record(state?.['machineState']))) {
    const bytes = record(record(record(value)['memoryMap'])['memory'])['systemReserved'];
    if (typeof bytes === 'number' && Number.isSafeInteger(bytes)) reserved[node] = BigInt(bytes);
  }
  return { policyName, ...(Object.keys(reserved).length === 0 ? {} : { reserved }) };
}

/** Whether a kubelet can parse it at all. */
export const isJson = (text: string): boolean => parsed(text) !== undefined;

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
