import { parseFaults } from '../../../apiserver/faults/fault.ts';
import type { Random } from '../../../base/random.ts';
import type { Crew } from './crew.ts';
import type { SimWorld } from './sim-world.ts';

/** What an act is done with; its dice are its own, so that leaving one out changes no other. */
export interface Scene {
  world: SimWorld;
  crew: Crew;
  random: Random;
}

export interface Act<S extends Scene = Scene> {
  what: string;
  /** Servers, connections and processes fail: not in every round. @default false */
  rough?: boolean;
  /** How often, beside the others. */
  weight: number;
  /** @returns what was done, for people */
  do(scene: S): Promise<string> | string;
}

export function pick<T>(from: readonly T[], random: Random): T | undefined {
  return from[Math.floor(random() * from.length)];
}

/** Servers, connections and processes fail. @param troubles - what a server may do wrong, each with its probability */
export function roughActs(troubles: readonly Record<string, unknown>[]): readonly Act[] {
  return [
    rough('server in trouble', 4, ({ world, crew, random }) => {
      const chosen = troubles.filter(() => random() < 0.2);
      crew.troubled();
      world.api.hooks.setFaults(parseFaults(chosen));
      return JSON.stringify(chosen);
    }),
    rough('server well again', 5, ({ world, crew }) => {
      crew.well();
      world.api.hooks.setFaults([]);
      return '';
    }),
    rough('connections cut', 1, ({ world, crew }) => {
      crew.shaken();
      world.api.hooks.dropConnections();
      return '';
    }),
    rough('history forgotten', 1, ({ world, crew }) => {
      crew.shaken();
      world.api.hooks.compact();
      return '';
    }),
    rough('controller anew', 2, ({ crew }) => crew.replace(0)),
    rough('controller anew, the old one writes late', 1, ({ crew, random }) => crew.replace(random() * 4_000)),
  ];
}

const rough = (what: string, weight: number, act: Act['do']): Act => ({ what, rough: true, weight, do: act });
