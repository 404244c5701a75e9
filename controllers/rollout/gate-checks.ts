import type { Millis } from '../../base/clock.ts';
import { checkGates, type GateContext } from './gates/check.ts';
import type { GateResult } from './gates/contract.ts';
import type { Rules } from './rules.ts';

/** Nodes report all the time, and each report has a rollout looked at: gates are not asked more often than this, in ms. */
export const KEPT_MS: Millis = 10_000;

/** Asks the gates of rollouts, and keeps each answer for a moment. */
export class GateChecks {
  readonly #context: GateContext;
  readonly #kept = new Map<string, { generation: number; until: Millis; results: readonly GateResult[] }>();

  constructor(context: GateContext) {
    this.#context = context;
  }

  /** @throws the signal's reason */
  async results(rules: Rules, signal: AbortSignal): Promise<readonly GateResult[]> {
    const { clock } = this.#context;
    const kept = this.#kept.get(rules.name);
    if (kept !== undefined && kept.generation === rules.generation && clock.monotonic() < kept.until) return kept.results;
    const results = await checkGates(rules.gates, this.#context, signal);
    this.#kept.set(rules.name, { generation: rules.generation, until: clock.monotonic() + KEPT_MS, results });
    return results;
  }

  forget(rollout: string): void {
    this.#kept.delete(rollout);
  }
}
