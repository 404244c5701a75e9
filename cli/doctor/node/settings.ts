import { failed, ok, the, type Check, type Seen } from '../check.ts';

export interface SettingsFacts {
  file: string;
  /** undefined: it can be used, or there is none. */
  problem: Seen<string | undefined>;
  isThere: Seen<boolean>;
  /** Why the field policy cannot be used; undefined where it can, or there is none. */
  policyProblem: Seen<string | undefined>;
  /** `none`: nothing is refused. */
  policyFile: string;
  hasPolicy: Seen<boolean>;
}

export const settingsChecks: readonly Check<SettingsFacts>[] = [
  {
    name: 'settings',
    wants: 'the settings of the agent can be read',
    decide: ({ file, problem, isThere }) => {
      const why = the(problem);
      if (why !== undefined) return failed(why, `fix ${file}; dkc agent run --help lists its keys`);
      return ok(the(isThere) ? file : `${file} does not exist: all settings have their defaults`);
    },
  },
  {
    name: 'policy',
    wants: 'the field policy can be read',
    decide: ({ policyProblem, policyFile, hasPolicy }) => {
      const why = the(policyProblem);
      if (why === undefined)
        return ok(the(hasPolicy) || policyFile === 'none' ? policyFile : `${policyFile} does not exist: the default policy applies`);
      return failed(`${why}; new configurations are rejected until it is fixed`, `fix ${policyFile}`);
    },
  },
];
