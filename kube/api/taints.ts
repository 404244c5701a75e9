import type { Taint, Toleration } from 'kubernetes-types/core/v1.js';

/** Effects that keep a new pod from a node. */
export const refusingEffects = ['NoSchedule', 'NoExecute'] as const;

/**
 * Whether a pod with this toleration puts up with this taint. `Exists` asks for the key alone, and without a key for none; `Equal`, the default, for the
 * value too. Without an effect it holds for each. How long (`tolerationSeconds`) is not looked at.
 */
export function toleratesTaint(toleration: Readonly<Toleration>, taint: Readonly<Taint>): boolean {
  if (toleration.effect && toleration.effect !== taint.effect) return false;
  switch (toleration.operator || 'Equal') {
    case 'Exists':
      return !toleration.key || toleration.key === taint.key;
    case 'Equal':
      return toleration.key === taint.key && (toleration.value ?? '') === (taint.value ?? '');
    default:
      return false;
  }
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
