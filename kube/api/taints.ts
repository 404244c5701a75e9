import type { Taint, Toleration } from 'kubernetes-types/core/v1.js';

/** Effects that keep a new pod from a node. */
export const refusingEffects = ['NoSchedule', 'NoExecute'] as const;

/**
 * Whether a pod with this toleration tolerates this taint. `Exists` compares the key alone, and without a key tolerates all; `Equal`, the default, compares
 * the value too; `Gt` and `Lt` tolerate a taint whose value is a greater or a smaller integer than the toleration's (API servers accept these two with the
 * gate TaintTolerationComparisonOperators, alpha in 1.35). Without an effect it holds for each. How long (`tolerationSeconds`) is not looked at.
 * @see https://kep.k8s.io/5471
 */
export function toleratesTaint(toleration: Readonly<Toleration>, taint: Readonly<Taint>): boolean {
  if (toleration.effect && toleration.effect !== taint.effect) return false;
  switch (toleration.operator || 'Equal') {
    case 'Exists':
      return !toleration.key || toleration.key === taint.key;
    case 'Equal':
      return toleration.key === taint.key && (toleration.value ?? '') === (taint.value ?? '');
    case 'Gt':
      return toleration.key === taint.key && compareIntegers(taint.value, toleration.value) === 1;
    case 'Lt':
      return toleration.key === taint.key && compareIntegers(taint.value, toleration.value) === -1;
    default:
      return false;
  }
}

const MAX_INT64 = 2n ** 63n - 1n;

/** @returns undefined where one of them is no integer of 64 bits in its shortest form: `007` is none */
function compareIntegers(a: string | undefined, b: string | undefined): -1 | 0 | 1 | undefined {
  const [one, other] = [integerOf(a), integerOf(b)];
  if (one === undefined || other === undefined) return undefined;
  return one > other ? 1 : one < other ? -1 : 0;
}

function integerOf(text: string | undefined): bigint | undefined {
  // No such integer has more than 20 characters; what a server stores may be longer.
  if (text === undefined || text.length > 20 || !/^(0|-?[1-9][0-9]*)$/.test(text)) return undefined;
  const value = BigInt(text);
  return value > MAX_INT64 || value < -MAX_INT64 - 1n ? undefined : value;
}

/** The first taint, in the node's order, that has one of these effects and that nothing tolerates. */
export function firstUntolerated(
  taints: readonly Taint[] | undefined,
  tolerations: readonly Toleration[] | undefined,
  effects: readonly string[],
): Taint | undefined {
  if (taints === undefined) return undefined;
  for (const taint of taints) if (effects.includes(taint.effect) && !isTolerated(taint, tolerations)) return taint;
  return undefined;
}

function isTolerated(taint: Taint, tolerations: readonly Toleration[] | undefined): boolean {
  if (tolerations) for (const toleration of tolerations) if (toleratesTaint(toleration, taint)) return true;
  return false;
}

/**
 * Both lists as one. What is added takes the place of own tolerations of the same key, effect, operator and value, of whatever duration, else it goes to the
 * end. Own ones that say the same twice go on saying it twice.
 */
export function mergeTolerations(own: readonly Toleration[] | undefined, added: readonly Toleration[]): Toleration[] {
  const merged = [...(own ?? [])];
  for (const one of added) {
    let replaced = false;
    for (const [at, other] of merged.entries()) {
      if (!asksTheSame(one, other)) continue;
      merged[at] = one;
      replaced = true;
    }
    if (!replaced) merged.push(one);
  }
  return merged;
}

function asksTheSame(a: Toleration, b: Toleration): boolean {
  return (
    (a.key ?? '') === (b.key ?? '') &&
    (a.effect ?? '') === (b.effect ?? '') &&
    (a.operator || 'Equal') === (b.operator || 'Equal') &&
    (a.value ?? '') === (b.value ?? '')
  );
}
