import { join } from 'node:path';
import { breakCopy, copyFile, copyStore } from './copy.ts';
import {
  drillCondemnation,
  judgeBoot,
  localConfigStep,
  planDrill,
  report,
  type DrillReport,
  type DrillStep,
  type Scenario,
} from './plan.ts';
import { recorded, type AdminFacts } from '../facts.ts';
import type { Boot, BootDeps } from '../../boot/boot.ts';
import type { Store } from '../../store/store.ts';
import { layout } from '../../store/layout.ts';
import { describeError } from '../../../base/errors.ts';

export interface DrillDeps extends Omit<BootDeps, 'store'> {
  facts: AdminFacts;
  boot: Boot;
  /** A store on another root. */
  storeAt(root: string): Store;
  /** An empty directory of our own, which the caller removes. Absolute. */
  scratch: string;
  signal?: AbortSignal;
}

/** Rehearses every fall back on copies of the store. The real one is only read. */
export async function drill(deps: DrillDeps): Promise<DrillReport> {
  const steps: DrillStep[] = [];
  let problem: string | undefined;
  for (const [index, scenario] of planDrill(deps.facts).entries()) {
    deps.signal?.throwIfAborted();
    const { localProblem, ...step } = await rehearse(scenario, join(deps.scratch, String(index)), deps);
    problem ??= localProblem;
    steps.push(step);
  }
  return report(problem === undefined ? steps : [...steps, localConfigStep(problem)]);
}

async function rehearse(scenario: Scenario, root: string, deps: DrillDeps): Promise<DrillStep & { localProblem?: string }> {
  const { facts, disk, clock, options } = deps;
  const [assigned, trusted] = [recorded(facts.assigned), recorded(facts.lastKnownGood)];
  const effectiveConfig = layout(root).effective;
  try {
    await copyStore(disk, options.dynamicConfigDir, root, [assigned, trusted]);
    await copyFile(disk, options.effectiveConfig, effectiveConfig);
    await breakCopy(disk, root, scenario.harm, assigned, trusted);
    const store = deps.storeAt(root);
    if (scenario.harm === 'condemn-assigned' && assigned) {
      const record = drillCondemnation(assigned, facts, new Date(clock.now()).toISOString());
      if (record) await store.setCondemned([...facts.condemned, record]);
    }
    const began = clock.monotonic();
    // What the real node keeps in /run stays out of it too.
    const kubeletExits = join(root, 'run', 'kubelet-exits');
    const outcome = await deps.boot({ ...deps, store, options: { ...options, dynamicConfigDir: root, effectiveConfig, kubeletExits } });
    const step = judgeBoot(scenario, { used: outcome.used, usable: outcome.effective.usable }, Math.round(clock.monotonic() - began));
    return outcome.localProblem === undefined ? step : { ...step, localProblem: outcome.localProblem };
  } catch (error) {
    // Boot itself never throws: this is the copying, and a rehearsal that could not be held has not been passed.
    return { step: scenario.step, expected: scenario.expected, seen: describeError(error), ms: 0, passed: false };
  }
}
