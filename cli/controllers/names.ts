import { nearest } from '../../base/errors.ts';

/** What `dkc controllers run` can run. */
export const controllerNames = ['daemonset', 'statefulset', 'rollout'] as const;
export type ControllerName = (typeof controllerNames)[number];

/** Without a flag: what every API server has the kinds for. */
export const DEFAULT_CONTROLLERS: readonly ControllerName[] = ['daemonset', 'statefulset'];

export type NamesRead = { ok: true; names: readonly ControllerName[] } | { ok: false; problem: string };

/** Reads `--controllers=a,b`: each name once, in the order of {@link controllerNames}. */
export function readControllerNames(text: string): NamesRead {
  const asked = text.split(',').map((name) => name.trim());
  const there = controllerNames.join(', ');
  for (const name of asked) {
    if (name === '') return { ok: false, problem: `has an empty name; known: ${there}` };
    if (!isControllerName(name)) {
      const meant = nearest(name, controllerNames);
      return {
        ok: false,
        problem: `has an unknown controller ${JSON.stringify(name)}${meant === undefined ? `; known: ${there}` : `, did you mean ${meant}?`}`,
      };
    }
  }
  return { ok: true, names: controllerNames.filter((name) => asked.includes(name)) };
}

const isControllerName = (name: string): name is ControllerName => controllerNames.some((known) => known === name);
