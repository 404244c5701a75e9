import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Bell } from './bell.ts';
import type { AgentOptions } from '../../../../agent/options.ts';

const root = join(import.meta.dirname, '../../../..');

/** dist/dkc.js of the sources as they are: what is installed, as small as it is there. The words behind it make it the agent. */
export function builtAgent(): string[] {
  execFileSync(process.execPath, [join(root, 'scripts/build.ts')], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
  return [join(root, 'dist/dkc.js'), 'agent', 'run'];
}

/** `dkc agent run` as a process of its own, started again whenever it ends. */
export class AgentProcess {
  readonly #runner: string;
  readonly #argv: readonly string[];
  readonly #bell: Bell;
  #child: ChildProcess | undefined;
  #over = false;
  #supervised: Promise<void> = Promise.resolve();
  log = '';
  starts = 0;
  /** Exit codes of those that ended by themselves. */
  readonly exitCodes: (number | null)[] = [];

  private constructor(runner: string, argv: readonly string[], bell: Bell) {
    this.#runner = runner;
    this.#argv = argv;
    this.#bell = bell;
  }

  /** @param program - of {@link builtAgent} @param setup - `runner` is what runs it, @default this Node.js */
  static async start(
    program: readonly string[],
    { dir, options, bell, nodeFlags = [], runner = process.execPath }: { dir: string; options: AgentOptions; bell: Bell; nodeFlags?: readonly string[]; runner?: string }, // prettier-ignore
  ): Promise<AgentProcess> {
    const file = join(dir, 'agent.yaml');
    const { maxKubeletExits: _m, keepCheckpoints: _k, verbosity: _v, trialDuration: _t, unhealthyDeadline: _u, syncInterval: _s, restartSpread: _r, ...rest } = options; // prettier-ignore
    await writeFile(file, JSON.stringify(rest));
    const made = new AgentProcess(runner, [...nodeFlags, ...program, `--agent-config=${file}`], bell);
    made.#supervised = made.#supervise();
    return made;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over = true;
    this.#child?.kill('SIGKILL');
    await this.#supervised;
  }

  async #supervise(): Promise<void> {
    while (!this.#over) {
      const child = spawn(this.#runner, this.#argv, { stdio: ['ignore', 'ignore', 'pipe'], env: { PATH: process.env['PATH'] } });
      this.#child = child;
      this.starts += 1;
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        this.log = (this.log + text).slice(-64 * 1024);
        this.#bell.ring();
      });
      const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
      if (signal === null) this.exitCodes.push(code);
      this.#bell.ring();
    }
  }
}
