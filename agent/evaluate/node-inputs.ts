import { dirname, posix } from 'node:path';
import { type LocalConfig, parseLocal } from './local.ts';
import { ALLOW_ANNOTATION, type NodeInputs } from './evaluate.ts';
import { defaultPolicy, parsePolicy, type Policy } from '../config/config.ts';
import type { SignatureCheck, SignatureResult } from '../config/signature/check.ts';
import type { KubeletFacts } from '../config/contract.ts';
import { type AgentOptions, DEFAULT_POLICY_FILE } from '../options.ts';
import type { Disk } from '../../base/disk.ts';
import { describeError, errorCode } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { configDirOf, type DropIns, MAX_DROP_INS, parseDropIns } from '../config/overlay.ts';
import { MAX_BYTES } from '../config/decode/document.ts';
import type { MaybeSource, Source } from '../checkpoint/source.ts';
import type { Store } from '../store/store.ts';

export type NodeInputsOptions = Pick<AgentOptions, 'localConfig' | 'effectiveConfig' | 'merge' | 'policy'>;

export interface Gathered {
  inputs: NodeInputs;
  /** Set where the policy file cannot be used. Then boot does not check against the policy, and preflight rejects new configs. */
  policyProblem?: string;
}

/** Reads the inputs of an evaluation from this node's disk. Never throws: a read failure is logged and part of the result. */
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

/** Whether the policy says `drift: correct`; false where the policy file cannot be used. */
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

/** @param flag - value of `--policy`: a file, `none`, or undefined for the default file where it exists. Never throws */
export async function readPolicy(flag: string | undefined, disk: Pick<Disk, 'readLinked'>): Promise<ReadPolicy> {
  if (flag === 'none') return { policy: 'none' };
  const path = flag ?? DEFAULT_POLICY_FILE;
  try {
    const policy = parsePolicy(new TextDecoder('utf-8', { fatal: true }).decode(await disk.readLinked(path)));
    if (policy.signatureKeys.length === 0) return { policy };
    // Most nodes require no signatures: load the code for them on demand.
    const { parseSignatureKeys, signatureCheck } = await import('../config/signature/check.ts');
    return { policy, signatureCheck: signatureCheck(parseSignatureKeys(policy.signatureKeys)) };
  } catch (error) {
    if (flag === undefined && errorCode(error) === 'ENOENT') return { policy: defaultPolicy };
    return { policy: 'none', problem: `${path}: ${describeError(error)}` };
  }
}

/** Most names that are read, in all directories together, and most levels of directories. */
const MAX_NAMES = 1000;
const MAX_LEVELS = 10;

type Reader = Pick<Disk, 'list' | 'stat' | 'readLinked'>;

/**
 * The drop-ins of a kubelet that is started with --config-dir: all files below the directory whose name ends in .conf, in the lexical order in which
 * the kubelet walks them. Links to files are followed, links to directories are not.
 * @returns undefined where the kubelet has no such directory. Files that cannot be read are in `problems`
 */
export async function readDropIns(disk: Reader, { args, version }: KubeletFacts): Promise<DropIns | undefined> {
  const dir = configDirOf(args, version);
  if (dir === undefined) return undefined;
  const found = new Walk(disk);
  // Go's walk does not follow the directory itself where it is a link.
  const stat = await disk.stat(dir).catch(() => undefined);
  if (stat?.kind === 'other' && !dir.endsWith('.conf')) return { dir, files: [], problems: [] };
  await found.into(dir, 1);
  return parseDropIns(dir, found.files, version);
}

class Walk {
  readonly files: { path: string; bytes?: Uint8Array; problem?: string }[] = [];
  readonly #disk: Reader;
  #names = 0;

  constructor(disk: Reader) {
    this.#disk = disk;
  }

  async into(dir: string, level: number): Promise<void> {
    let names: string[];
    try {
      names = await this.#disk.list(dir);
    } catch (error) {
      this.files.push({ path: dir, problem: describeError(error) });
      return;
    }
    // Go sorts names by their bytes.
    for (const name of names.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))) {
      const path = posix.join(dir, name);
      if (++this.#names > MAX_NAMES || this.files.length >= MAX_DROP_INS || level > MAX_LEVELS) {
        this.files.push({
          path,
          problem: `the agent reads ${MAX_DROP_INS} drop-ins, ${MAX_NAMES} names and ${MAX_LEVELS} levels of directories at most`,
        });
        return;
      }
      const stat = await this.#disk.stat(path).catch(() => undefined);
      if (stat?.kind === 'dir') await this.into(path, level + 1);
      else if (name.endsWith('.conf')) this.files.push(await this.#file(path));
    }
  }

  async #file(path: string): Promise<{ path: string; bytes?: Uint8Array; problem?: string }> {
    try {
      return { path, bytes: await this.#disk.readLinked(path, MAX_BYTES) };
    } catch (error) {
      return { path, problem: describeError(error) };
    }
  }
}

/** Verifies the signature of a checkpoint; undefined for local, and where the checkpoint cannot be read. */
type VerifyCheckpoint = (source: MaybeSource) => Promise<SignatureResult | undefined>;

/** Reads the policy file now. `none`: it requires no signatures; `unknown`: it cannot be used. */
export async function signersOf(
  { policy }: Pick<AgentOptions, 'policy'>,
  disk: Pick<Disk, 'readLinked'>,
  store: Pick<Store, 'load'>,
): Promise<VerifyCheckpoint | 'none' | 'unknown'> {
  const { signatureCheck, problem } = await readPolicy(policy, disk);
  if (problem !== undefined) return 'unknown';
  if (signatureCheck === undefined) return 'none';
  return async (source) => (source === null ? undefined : await signerOf(source, store, signatureCheck));
}

async function signerOf(source: Source, store: Pick<Store, 'load'>, check: SignatureCheck): Promise<SignatureResult | undefined> {
  const state = await store.load(source);
  if (state.at !== 'intact') return undefined;
  const { files, annotations } = state.checkpoint.payload;
  const { namespace, name, kubeletConfigKey } = source;
  return check({ files, kubeletConfigKey, allow: annotations[ALLOW_ANNOTATION] }, `${namespace}/${name}`);
}
