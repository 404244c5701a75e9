import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { HollowOptions } from './hollow-nodes.ts';

/** What `run.ts` takes as its argument, in JSON. */
export interface RunOptions extends Omit<HollowOptions, 'client' | 'clock' | 'log'> {
  /** Path. */
  kubeconfig: string;
  /** Nodes to make, all alike. @default 0, the kubelets of those alone that others make */
  count?: number;
  /** They are called `PREFIX-N`. @default 'hollow' */
  prefix?: string;
}

/** Runs a hollow fleet in a process of its own, which ends with ours at the latest. Its nodes are there when this returns. */
export async function startHollow(options: RunOptions): Promise<AsyncDisposable> {
  const words = ['--pdeathsig', 'KILL', process.execPath, join(import.meta.dirname, 'run.ts'), JSON.stringify(options)];
  const child = spawn('setpriv', words, { stdio: ['ignore', 'pipe', 'inherit'] });
  const gone = once(child, 'exit');
  child.stdout.setEncoding('utf8');
  const first = await Promise.race([once(child.stdout, 'data'), gone.then(() => undefined)]);
  if (first === undefined) throw new Error('the hollow nodes ended before they were ready');
  return {
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await gone;
    },
  };
}
