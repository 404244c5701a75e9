import type { ExtenderConfig } from '../config/config.ts';
import type { Pod } from '../types.ts';

export type Verb = 'filter' | 'prioritize' | 'bind' | 'preempt';

const verbKeys = { filter: 'filterVerb', prioritize: 'prioritizeVerb', bind: 'bindVerb', preempt: 'preemptVerb' } as const;

/** The path of a call behind its prefix; '' where the extender is not asked that. */
export function verbOf(config: ExtenderConfig, verb: Verb): string {
  return config[verbKeys[verb]];
}

export function urlOf(config: ExtenderConfig, verb: Verb): string {
  return `${config.urlPrefix.replace(/\/+$/, '')}/${verbOf(config, verb)}`;
}

/** In the order in which they are asked: those that nothing depends on come last, so that they see what is left. */
export function inOrder(configs: readonly ExtenderConfig[]): ExtenderConfig[] {
  return [...configs.filter(({ ignorable }) => !ignorable), ...configs.filter(({ ignorable }) => ignorable)];
}

/** Whether it wants to be asked about this pod: where it manages resources, only those that want or may use one of them. */
export function isInterested({ managedResources }: ExtenderConfig, { spec }: Readonly<Pod>): boolean {
  if (managedResources.length === 0) return true;
  return [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])].some(({ resources }) =>
    managedResources.some(({ name }) => Object.hasOwn(resources?.requests ?? {}, name) || Object.hasOwn(resources?.limits ?? {}, name)),
  );
}
