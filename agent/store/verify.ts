import { join } from 'node:path';
import type { Disk } from '../../base/disk.ts';
import { errorCode } from '../../base/errors.ts';
import { directoryNameProblem } from '../checkpoint/verify-names.ts';
import { readCheckpoint } from './checkpoint-files.ts';
import { onPath, type Problem, remedy, type Store } from './store.ts';
import type { Layout } from './layout.ts';
import { parseCondemned, parseRefused, parseTrial, type Parsed } from './records.ts';

/** Everything wrong with records and checkpoints; changes nothing and sets nothing aside. */
export async function verifyStore(disk: Disk, paths: Layout, store: Pick<Store, 'record'>): Promise<Problem[]> {
  const problems: Problem[] = [];
  if ((await onPath('look at', paths.store, () => disk.stat(paths.store)))?.kind !== 'dir') {
    return [{ path: paths.store, problem: 'there is no store' }];
  }

  for (const name of ['assigned', 'last-known-good'] as const) {
    const path = paths.meta(name);
    const record = await store.record(name);
    if (record.at === 'damaged') problems.push({ path: record.path, problem: record.problem });
    if (record.at === 'missing' && name === 'assigned') {
      problems.push({ path, problem: 'it is missing: what is assigned is unknown until the agent has asked the API' });
    }
    if (record.at === 'known' && record.source && (await readCheckpoint(disk, paths, record.source)).at === 'missing') {
      problems.push({ path, problem: 'it names a checkpoint that is not there' });
    }
  }

  const own = async (path: string, parse: (bytes: Uint8Array) => Parsed<unknown>) => {
    try {
      const parsed = parse(await disk.read(path));
      if (!parsed.ok) problems.push({ path, problem: parsed.problem });
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') problems.push({ path, problem: remedy(error) });
    }
  };
  await own(paths.trial, parseTrial);
  await own(paths.condemned, parseCondemned);
  await own(paths.refused, parseRefused);

  const below = async (dir: string, what: 'UID' | 'ResourceVersion', judge: (name: string) => Promise<void>) => {
    for (const name of await onPath('list', dir, async () => ((await disk.stat(dir)) ? disk.list(dir) : []))) {
      const path = join(dir, name);
      if (directoryNameProblem(what, name) !== undefined) problems.push({ path, problem: 'it is no part of a store' });
      else if ((await disk.stat(path))?.kind !== 'dir') problems.push({ path, problem: 'it is not a directory' });
      else await judge(name);
    }
  };
  await below(paths.checkpoints, 'UID', (uid) =>
    below(paths.uidDir(uid), 'ResourceVersion', async (resourceVersion) => {
      const found = await readCheckpoint(disk, paths, { uid, resourceVersion });
      if (found.at === 'damaged') problems.push({ path: found.path, problem: found.problem });
    }),
  );
  return problems;
}
