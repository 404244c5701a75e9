import { rules, type Rules } from '../../../kube/election/next.ts';

/** Elections that go wrong, each as some have been written. */
const weaker: Readonly<Record<string, Partial<Rules>>> = {
  "trusts the other's clock": {
    isOver: (seen, now) => now.wall - Date.parse(seen.lease?.spec?.renewTime ?? '') > seen.standsMs || rules.isOver(seen, now),
  },
  'leads until it is told otherwise': { isCertain: () => true },
};

export const plantedBugs = Object.keys(weaker);

export function plantedRules(name: string): Rules {
  return { ...rules, ...weaker[name] };
}
