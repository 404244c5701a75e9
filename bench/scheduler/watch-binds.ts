import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** Times of watch events of a pod, in ms since 1970. */
export interface BindTime {
  /** First event. */
  seen: number;
  /** First event with a node. */
  bound: number;
}

/** Request to the watcher: the times of pods with this name prefix, once this many are bound. */
export interface Wanted {
  prefix: string;
  count: number;
}

export type Told = { ready: true } | { times: BindTime[] };

/** A process that only watches pods. */
interface Watcher extends AsyncDisposable {
  /** Call before the last pod is created; one call at a time. @throws after ten minutes */
  whenBound(wanted: Wanted): Promise<BindTime[]>;
}

const PATIENCE_MS = 10 * 60_000;

/** Watches the pods of a namespace in a separate process; resolves when the watch has started. */
export async function watchBinds(kubeconfig: string, namespace: string): Promise<Watcher> {
  const child = fork(join(import.meta.dirname, 'watcher.ts'), [kubeconfig, namespace]);
  const gone = once(child, 'exit');
  const next = async (signal?: AbortSignal): Promise<Told> => {
    const [told] = (await Promise.race([once(child, 'message', signal === undefined ? {} : { signal }), gone])) as [Told | number | null];
    if (told === null || typeof told === 'number') throw new Error(`the watcher ended with ${told ?? 'a signal'}`);
    return told;
  };
  await next();
  return {
    async whenBound(wanted) {
      child.send(wanted);
      const told = await next(AbortSignal.timeout(PATIENCE_MS)).catch((cause: unknown) => {
        throw new Error(`${wanted.count} pods ${wanted.prefix}* of ${namespace} are not bound`, { cause });
      });
      return 'times' in told ? told.times : [];
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await gone;
    },
  };
}
