import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const script = join(import.meta.dirname, 'build.sh');

/** Runs a command with its system settings and fixed folders covered; see its head for the options. */
export const kubeletCover = join(import.meta.dirname, 'kubelet-cover.sh');

/** This machine cannot build the real parts; the message says why. A suite skips then. */
export class RealPartsUnavailable extends Error {
  override name = 'RealPartsUnavailable';
}

/**
 * Builds the real parts named, or finds them in the cache, and shows the progress on stderr.
 * @param names - such as `kubelet` and `kubelet-validate`; build.sh has the list
 * @returns the folder that holds each part by its name, and `protos`
 * @throws {RealPartsUnavailable} where they cannot be built at all, for example not on Debian
 */
export async function realParts(names: string[]): Promise<{ dir: string }> {
  const build = spawn(script, names, { stdio: ['ignore', 'pipe', 'pipe'] });
  let out = '';
  let progress = '';
  build.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  build.stderr.setEncoding('utf8').on('data', (text: string) => {
    process.stderr.write(text);
    progress += text;
  });
  const code = await new Promise<number | null>((resolve, reject) => build.once('error', reject).once('close', resolve));
  const lastWords = progress.trimEnd().split('\n').at(-1) ?? '';
  if (code === 77) throw new RealPartsUnavailable(lastWords.replace(/^.*skipped: /, ''));
  if (code !== 0) throw new Error(`Cannot build ${names.join(', ')}: build.sh ended with ${code ?? 'a signal'}: ${lastWords}`);
  return { dir: out.trimEnd().split('\n').at(-1) ?? '' };
}

/** Of a kubelet of a test: local, without authentication, without traces in the machine's cgroups and firewall. */
export const localKubelet = {
  apiVersion: 'kubelet.config.k8s.io/v1beta1',
  kind: 'KubeletConfiguration',
  address: '127.0.0.1',
  healthzBindAddress: '127.0.0.1',
  // standalone there is no API server to ask who somebody is
  authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
  authorization: { mode: 'AlwaysAllow' },
  failSwapOn: false,
  // else it makes /kubepods in every cgroup hierarchy of the machine
  cgroupsPerQOS: false,
  enforceNodeAllocatable: [],
  makeIPTablesUtilChains: false,
};

/**
 * A configuration for a kubelet 1.20 of a test.
 * @param overrides - fields to add or replace; `port` and `healthzPort` at least, as several kubelets share a machine
 */
export function baseKubeletConfig<T extends { port: number; healthzPort: number }>(overrides: T) {
  return {
    ...localKubelet,
    // a full disk is not what is tested
    evictionHard: { 'memory.available': '0%', 'nodefs.available': '0%', 'nodefs.inodesFree': '0%', 'imagefs.available': '0%' },
    // the default is made when absent, in /usr; here it is in a folder that the cover replaces
    volumePluginDir: '/var/lib/kubelet/volume-plugins',
    ...overrides,
  };
}

export type ValidatorAnswer = {
  /** where a kubelet would give up: while decoding, at a feature gate (from 1.32 on that is a panic while defaulting), at the validation; or not at all */
  stage: 'ok' | 'decode' | 'gates' | 'validate' | 'panic';
  errors?: string[];
  /** what strict decoding had against a text that a kubelet accepts with a warning */
  lenient?: string;
  /** with every default filled in, as v1beta1; absent when decoding failed or defaulting panicked */
  config?: Record<string, unknown>;
};

export type Validator = {
  /** What a kubelet says to the text of a configuration file. Many may be asked at a time. */
  validate(text: string): Promise<ValidatorAnswer>;
  /** Ends the process, after the questions already asked. */
  close(): Promise<void>;
};

/**
 * Starts kubelet-validate, as one process for all questions.
 * @param binary - the part `kubelet-validate`
 * @param args - `-config` has those of newer releases show the configuration; that of 1.20 always does
 */
export function openValidator(binary: string, args: readonly string[] = []): Validator {
  const process = spawn(binary, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const waiting: PromiseWithResolvers<ValidatorAnswer>[] = []; // answers come in the order of the questions
  let over: Error | undefined;
  const ended = new Promise<void>((resolve) => {
    const end = (why: string, cause?: unknown): void => {
      over ??= new Error(`Cannot ask ${binary}: ${why}`, { cause });
      for (const { reject } of waiting.splice(0)) reject(over);
      resolve();
    };
    process.once('error', (error) => end('it does not start', error));
    process.once('close', (code, signal) => end(`it ended with ${signal ?? code}`));
  });
  process.stdin.on('error', () => {}); // it ended; the questions learn it from 'close'
  createInterface({ input: process.stdout }).on('line', (line) => {
    const { id: _, ...answer } = JSON.parse(line) as ValidatorAnswer & { id: number };
    waiting.shift()?.resolve(answer);
  });

  let asked = 0;
  return {
    async validate(text) {
      if (over) throw over;
      const answer = Promise.withResolvers<ValidatorAnswer>();
      waiting.push(answer);
      process.stdin.write(`${JSON.stringify({ id: asked++, data: text })}\n`);
      return answer.promise;
    },
    async close() {
      process.stdin.end();
      await ended;
    },
  };
}
