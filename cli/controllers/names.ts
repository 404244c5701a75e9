import { nearest } from '../../base/nearest.ts';

/** What `dkc controllers run` can run. */
export const controllerNames = ['daemonset', 'statefulset'] as const;
export type ControllerName = (typeof controllerNames)[number];

/** Announced, and not there yet: scripts that name them learn it at the start, not by what is left undone. */
const later: readonly string[] = ['rollout'];

export type NamesRead = { ok: true; names: readonly ControllerName[] } | { ok: false; problem: string };

/** Reads `--controllers=a,b`: each name once, in the order of {@link controllerNames}. */
export function readControllerNames(text: string): NamesRead {
  const asked = text.split(',').map((name) => name.trim());
  const there = controllerNames.join(', ');
  for (const name of asked) {
    if (name === '') return { ok: false, problem: `has an empty name; known: ${there}` };
    if (later.includes(name)) return { ok: false, problem: `${name} is not part of this version; known: ${there}` };
    if (!isControllerName(name)) {
      const meant = nearest(name, [...controllerNames, ...later]);
      return {
        ok: false,
        problem: `has an unknown controller ${JSON.stringify(name)}${meant === undefined ? `; known: ${there}` : `, did you mean ${meant}?`}`,
      };
    }
  }
  return { ok: true, names: controllerNames.filter((name) => asked.includes(name)) };
}

const isControllerName = (name: string): name is ControllerName => controllerNames.some((known) => known === name);
