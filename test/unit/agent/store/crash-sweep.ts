import { CrashDisk, type Fault, type Forgotten } from '../../../support/crash-disk.ts';
import { livedIn, look, openStore, paths, type StoreChange } from './store-changes.ts';

/** The number of different disks that the next process found, and what was found wrong, in words. */
export type Sweep = { disks: number; violations: string[] };

/** Most disks a single power cut is taken to leave. */
const CUT_STATES = 16;
const FAULT_STATES = 4;

/**
 * Makes `change` fail and lose power in every way there is, and looks at what the next process finds: everything it changes reads
 * as before or as after, as after where it was acknowledged; everything else reads as before.
 * @param forgotten - syncs that the code is made to leave out; the first thing that this breaks ends the sweep
 */
export async function sweepCrashes(it: StoreChange, forgotten?: Forgotten): Promise<Sweep> {
  const start = new CrashDisk();
  await (it.before ?? livedIn)(openStore(start), start);
  const rested = start.settled();
  const before = await look(openStore(rested.afterKill()));
  const clean = rested.afterKill();
  await it.change(openStore(clean));
  const after = await look(openStore(clean));

  const sweep: Sweep = { disks: 0, violations: [] };
  const inspected = new Set<string>();
  const inspect = async (disk: CrashDisk, done: boolean, how: string): Promise<void> => {
    const key = `${disk.fingerprint()} ${done}`;
    if (inspected.has(key)) return;
    inspected.add(key);
    sweep.disks += 1;
    for (const problem of await problems(disk, { it, before, after, done: done && !it.unacknowledged }))
      sweep.violations.push(`${it.why}, ${how}: ${problem}`);
  };
  const attempt = async (fault: Fault | undefined, disk = rested.afterKill()) => {
    disk.fault = fault;
    disk.forgotten = forgotten;
    const [changesBefore, operationsBefore] = [disk.changes, disk.operations];
    const store = openStore(disk);
    const done = await it.change(store).then(
      () => true,
      () => false,
    );
    disk.fault = undefined;
    return { disk, store, done, changes: disk.changes - changesBefore, operations: disk.operations - operationsBefore };
  };

  const whole = await attempt(undefined);
  const seenEnough = () => forgotten !== undefined && sweep.violations.length > 0;
  for (let at = 0; at <= whole.changes && !seenEnough(); at++) {
    const { disk, done } = await attempt({ kind: 'cut', at });
    const last = `power cut after ${at === 0 ? 'nothing' : (whole.disk.trace[at - 1] ?? 'all')}`;
    for (const left of disk.afterPowerCut(CUT_STATES, at)) await inspect(left, done && at >= whole.changes, last);
    // Killed here instead, started again, done again, and only then without power.
    const restarted = disk.afterKill();
    restarted.forgotten = forgotten;
    const store = openStore(restarted);
    await store.initialize();
    const { assigned, good } = await look(store); // the node boots on these, so they have to stay
    for (const left of restarted.afterPowerCut(FAULT_STATES, at)) {
      const later = await look(openStore(left));
      if (later['assigned'] !== assigned || later['good'] !== good) {
        sweep.violations.push(`${it.why}, killed and booted, ${last}: assigned was ${assigned}, is ${later['assigned']} after a power cut`);
      }
    }
    await it.change(store);
    for (const left of restarted.afterPowerCut(FAULT_STATES, at)) await inspect(left, true, `killed and restarted, ${last}`);
  }

  for (const kind of ['EIO', 'ENOSPC', 'EROFS'] as const) {
    for (let at = 1; at <= (kind === 'EIO' ? whole.operations : whole.changes) && !seenEnough(); at++) {
      const { disk, store, done } = await attempt({ kind, at });
      const how = `${kind} from operation ${at}`;
      await inspect(disk.afterKill(), done, how);
      for (const left of disk.afterPowerCut(FAULT_STATES, at)) await inspect(left, done, `${how}, then a power cut`);
      // The same process tries again on a disk that works.
      await it.change(store);
      for (const left of disk.afterPowerCut(FAULT_STATES, at)) await inspect(left, true, `${how}, again, then a power cut`);
    }
  }
  return sweep;
}

type Expected = { it: StoreChange; done: boolean } & Record<'before' | 'after', Record<string, string>>;

/** Boots on `disk` and says what it finds wrong. */
async function problems(disk: CrashDisk, { it, before, after, done }: Expected): Promise<string[]> {
  const found: string[] = [];
  const store = openStore(disk);
  const seen = await look(store);
  for (const fact of new Set([...Object.keys(before), ...Object.keys(after), ...Object.keys(seen)])) {
    const [was, becomes, is] = [before[fact], after[fact], seen[fact]];
    const fine = is === becomes || (!done && (is === was || is === it.between?.[fact]));
    if (!fine) found.push(`${fact} is ${is}, was ${was}, ${done ? 'and was acknowledged as' : 'becomes'} ${becomes}`);
  }
  try {
    await store.initialize();
    await store.sweep();
    const leftovers = (await store.sweep()).length;
    if (leftovers > 0) found.push(`${leftovers} leftovers after a sweep`);
    await store.setRecord('last-known-good', null);
    if ((await store.record('last-known-good')).at !== 'known') found.push('no record can be written any more');
    const damaged = (await store.verify()).filter(({ path }) => path.startsWith(paths.checkpoints));
    if (damaged.length > 0 && !Object.values(before).includes('damaged'))
      found.push(`verify finds ${damaged[0]?.path} ${damaged[0]?.problem}`);
  } catch (error) {
    found.push(`boot fails: ${String(error)}`);
  }
  return found;
}
