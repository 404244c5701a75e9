import { describeError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';

/** A health check. It returns at once, from memory: a probe sends no requests. */
export interface Check {
  /** Lower case, as in `/readyz/NAME`. */
  name: string;
  /** @returns why it fails, for the log; undefined when it passes */
  problem: () => string | undefined;
  /** Shown next to the check in the list, failed or not. Must not be secret: anyone who can connect reads it. @default nothing */
  detail?: () => string;
}

export interface Verdict {
  ok: boolean;
  /** The response body. */
  text: string;
}

/** Runs named checks as Kubernetes' own servers do: the response names the failed checks, and only the log has the reason, unless a check has a `detail`. */
export class Checks {
  /** `healthz`, `readyz` or `livez`. */
  readonly #name: string;
  readonly #checks: readonly Check[];
  readonly #log: Log;
  /** Checks that failed at the last probe, with the reason: probes come every few seconds, and only changes are logged. */
  readonly #failing = new Map<string, string>();

  constructor(name: string, checks: readonly Check[], log: Log) {
    this.#name = name;
    this.#checks = [{ name: 'ping', problem: () => undefined }, ...checks];
    this.#log = log;
  }

  /**
   * @param query - `verbose` lists every check; `exclude=NAME`, which may come often, leaves one out
   * @returns undefined when there is no check of that name
   */
  judge(query: URLSearchParams, name?: string): Verdict | undefined {
    const asked = name === undefined ? this.#checks : this.#checks.filter((check) => check.name === name);
    if (asked.length === 0) return undefined;
    const excluded = new Set(query.getAll('exclude'));
    const lines = asked.map((check) => {
      if (excluded.has(check.name)) return { ok: true, text: `[+]${check.name} excluded: ok` };
      const ok = this.#run(check);
      const detail = detailOf(check);
      if (ok) return { ok, text: `[+]${check.name} ok${detail === undefined ? '' : `: ${detail}`}` };
      return { ok, text: `[-]${check.name} failed: ${detail ?? 'reason withheld'}` };
    });
    const ok = lines.every((line) => line.ok);
    if (ok && !query.has('verbose')) return { ok, text: 'ok' };
    const strange = [...excluded].filter((one) => !asked.some((check) => check.name === one));
    const warnings =
      strange.length === 0
        ? []
        : [`warn: some health checks cannot be excluded: no matches for ${strange.map((one) => JSON.stringify(one)).join(', ')}`];
    const verdict = `${this.#name} check ${ok ? 'passed' : 'failed'}`;
    return { ok, text: `${[...lines.map((line) => line.text), ...warnings, verdict].join('\n')}\n` };
  }

  #run({ name, problem }: Check): boolean {
    const found = problemOf(problem);
    if (found !== this.#failing.get(name)) {
      if (found === undefined) this.#log.info('check passes again', { endpoint: this.#name, check: name });
      else this.#log.warn('check failed', { endpoint: this.#name, check: name, problem: found });
    }
    if (found === undefined) this.#failing.delete(name);
    else this.#failing.set(name, found);
    return found === undefined;
  }
}

function problemOf(problem: Check['problem']): string | undefined {
  try {
    return problem();
  } catch (error) {
    return describeError(error);
  }
}

/** One line, so that nothing in it looks like another check. */
function detailOf({ detail }: Check): string | undefined {
  try {
    return detail?.().replaceAll(/\s+/g, ' ');
  } catch {
    return undefined;
  }
}
