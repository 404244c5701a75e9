import { startOf, type KubeletStart } from '../host/unit.ts';
import type { AgentContext } from '../options.ts';
import type { Millis } from '../../base/clock.ts';

/** Ms between two looks. */
const LOOK_MS: Millis = 60_000;
/** Ms that a kubelet may run on another file than the effective one before somebody should know. A restart takes seconds. */
const LATE_MS: Millis = 180_000;

export interface HandOver {
  /** Ms on the monotonic clock since which the kubelet runs without having been started on the effective file; absent: it was, or is down. */
  since?: Millis;
  problem: string | null;
}

/** What the look at `now` changes. A kubelet that is down says nothing: its next start reads the effective file. */
export function nextHandOver(before: HandOver, start: KubeletStart, now: Millis): HandOver {
  if (start === 'this' || start === 'down') return { problem: null };
  const since = before.since ?? now;
  return { since, problem: now - since < LATE_MS ? null : problems[start] };
}

const hint = 'is the drop-in 20-dkc.conf loaded, and does it name the effective file? is /run full? See systemctl cat kubelet, journalctl -u dkc-agent -u kubelet'; // prettier-ignore
const problems: Readonly<Record<'another' | 'unknown', string>> = {
  another: `the kubelet has not been started on the effective file, so its trial cannot end: ${hint}`,
  unknown: `it is unknown which file the kubelet was started on, so its exits do not count in a trial: ${hint}`,
};

/** Says in log, event and `dkc status` when the kubelet does not take what the agent wrote: a trial waits for that, and would never end. */
export async function watchHandOver({ options, world, configState, activeRecord, shutdown, announcer }: AgentContext): Promise<void> {
  if (options.kubeletUnit === '') return;
  const { clock, log } = world;
  const { signal } = shutdown;
  let state: HandOver = { problem: null };
  for (;;) {
    await clock.sleep(LOOK_MS, signal).catch(() => {});
    if (signal.aborted) return;
    const before = state.problem;
    const start = await startOf(configState.active.effectiveSha256, options, world);
    state = nextHandOver(state, start, clock.monotonic());
    if (state.problem === before) continue;
    activeRecord.notice('hand-over', state.problem);
    if (state.problem === null) log.info('the kubelet runs on the effective file', { unit: options.kubeletUnit });
    else {
      log.error(state.problem, { unit: options.kubeletUnit });
      // Another file than that of the agent is drift, which has an event of its own.
      if (start === 'unknown') announcer.say(state.problem);
    }
  }
}
