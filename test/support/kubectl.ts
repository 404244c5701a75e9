import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { ChildProcessByStdio } from 'node:child_process';
import type { Readable } from 'node:stream';

/** A client that nobody here wrote: KUBECTL names one; else the first in PATH. */
export const kubectlPath =
  process.env['KUBECTL'] ||
  (process.env['PATH'] ?? '')
    .split(':')
    .map((folder) => join(folder, 'kubectl'))
    .find((path) => existsSync(path));

/** Runs `tests` where there is a kubectl. Where there is none it says so; with CI=true that is a failure. */
export function describeWithKubectl(name: string, tests: (program: string) => void): void {
  const program = kubectlPath;
  if (program !== undefined) return void describe(name, () => tests(program));
  const why = 'there is no kubectl in PATH: install kubernetes-client, or name one in KUBECTL';
  return void test(name, (t) => (process.env['CI'] === 'true' ? assert.fail(why) : t.skip(why)));
}

export class Kubectl {
  readonly #program: string;
  /** A folder of its own; files that it reads may lie there. */
  readonly home: string;

  static async start(program: string, kubeconfig: string): Promise<Kubectl> {
    const home = await mkdtemp(join(tmpdir(), 'dkc-kubectl-'));
    await writeFile(join(home, 'config'), kubeconfig);
    return new Kubectl(program, home);
  }

  constructor(program: string, home: string) {
    this.#program = program;
    this.home = home;
  }

  /** @param extra - environment variables besides PATH, HOME and KUBECONFIG */
  run(args: readonly string[], input = '', extra: Record<string, string> = {}): Promise<{ code: number; stdout: string; stderr: string }> {
    const env = { ...this.#environment(), ...extra };
    return new Promise((resolve) => {
      const child = execFile(this.#program, args, { env, timeout: 120_000 }, (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : typeof error.code === 'number' ? error.code : 1, stdout, stderr });
      });
      // It may be gone before it has read anything.
      child.stdin?.on('error', () => {});
      child.stdin?.end(input);
    });
  }

  /** What it prints. @param args - words without spaces in them */
  async good(args: string, input = '', extra: Record<string, string> = {}): Promise<string> {
    const { code, stdout, stderr } = await this.run(args.split(' '), input, extra);
    assert.equal(code, 0, stderr);
    return stdout;
  }

  spawn(args: readonly string[]): ChildProcessByStdio<null, Readable, null> {
    return spawn(this.#program, args, { env: this.#environment(), stdio: ['ignore', 'pipe', 'inherit'] });
  }

  #environment(): Record<string, string> {
    return { PATH: process.env['PATH'] ?? '', HOME: this.home, KUBECONFIG: join(this.home, 'config') };
  }

  stop(): Promise<void> {
    return rm(this.home, { recursive: true, force: true });
  }
}
