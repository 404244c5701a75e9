import { dirname } from 'node:path';
import { parseLocal, type LocalConfig } from './local.ts';
import type { NodeInputs } from './evaluate.ts';
import { defaultPolicy, parsePolicy, type Policy } from '../config/config.ts';
import type { SignatureCheck } from '../config/signature/check.ts';
import type { KubeletFacts } from '../config/contract.ts';
import { DEFAULT_POLICY_FILE, type AgentOptions } from '../options.ts';
import type { Disk } from '../../base/disk.ts';
import { describeError, errorCode } from '../../base/errors.ts';
import { readDropIns } from '../host/drop-ins.ts';
import type { Log } from '../../base/log.ts';

export type NodeInputsOptions = Pick<AgentOptions, 'localConfig' | 'effectiveConfig' | 'merge' | 'policy'>;

export interface Gathered {
  inputs: NodeInputs;
  /** The policy file cannot be used. What already runs is then not checked against the policy, and nothing new is let in. */
  policyProblem?: string;
}

/** Reads what a config is evaluated against, from this node's disk. Never throws: what cannot be read is logged and named in the result. */
export async function loadNodeInputs(options: NodeInputsOptions, kubelet: KubeletFacts, disk: Disk, log: Log): Promise<Gathered> {
  const local = await readLocal(options.localConfig, kubelet, disk, log);
  const current = await readOptional(disk, options.effectiveConfig, log);
  const policy = await readPolicy(options.policy, disk);
  if (policy.problem !== undefined)
    log.error('policy file cannot be used: new configs are rejected until it is fixed', { problem: policy.problem });
  const dropIns = await readDropIns(disk, kubelet);
  for (const { message } of dropIns?.problems ?? []) log.error('drop-in cannot be used', { problem: message });
  const inputs: NodeInputs = {
    local,
    current,
    kubelet,
    merge: options.merge,
    policy: policy.policy,
    ...(policy.signatureCheck ? { signatureCheck: policy.signatureCheck } : {}),
    ...(dropIns ? { dropIns } : {}),
  };
  return policy.problem === undefined ? { inputs } : { inputs, policyProblem: policy.problem };
}

/** Whether policy has drift corrected; a policy file that cannot be used corrects nothing. */
export async function correctsDrift(options: Pick<AgentOptions, 'policy'>, disk: Pick<Disk, 'readLinked'>): Promise<boolean> {
  const { policy, problem } = await readPolicy(options.policy, disk);
  return problem === undefined && policy !== 'none' && policy.drift === 'correct';
}

async function readLocal(path: string, kubelet: KubeletFacts, disk: Disk, log: Log): Promise<LocalConfig> {
  let bytes: Uint8Array;
  try {
    bytes = await disk.readLinked(path);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return { at: 'missing' };
    log.error('local config cannot be read', { path, error });
    return { at: 'broken', problem: describeError(error) };
  }
  const local = parseLocal(bytes, dirname(path), kubelet.version);
  if (local.at === 'broken') log.error('local config cannot be used', { path, problem: local.problem });
  return local;
}

async function readOptional(disk: Disk, path: string, log: Log): Promise<Uint8Array | undefined> {
  try {
    return await disk.read(path);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') log.error('effective file cannot be read', { path, error });
    return undefined;
  }
}

export type ReadPolicy = { policy: Policy | 'none'; signatureCheck?: SignatureCheck; problem?: string };

/** @param flag - as `--policy`: a file, `none`, or undefined for the default file where it exists. Never throws */
export async function readPolicy(flag: string | undefined, disk: Pick<Disk, 'readLinked'>): Promise<ReadPolicy> {
  if (flag === 'none') return { policy: 'none' };
  const path = flag ?? DEFAULT_POLICY_FILE;
  try {
    const policy = parsePolicy(new TextDecoder('utf-8', { fatal: true }).decode(await disk.readLinked(path)));
    if (policy.signatureKeys.length === 0) return { policy };
    // Most nodes ask for no signatures, and do without the code that reads them.
    const { parseSignatureKeys, signatureCheck } = await import('../config/signature/check.ts');
    return { policy, signatureCheck: signatureCheck(parseSignatureKeys(policy.signatureKeys)) };
  } catch (error) {
    if (flag === undefined && errorCode(error) === 'ENOENT') return { policy: defaultPolicy };
    return { policy: 'none', problem: `${path}: ${describeError(error)}` };
  }
}
