import { cpSync, globSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { realClock } from '../../../../base/clock.ts';
import { silentLog } from '../../../../base/log.ts';
import { createClient } from '../../../../kube/client/http-client.ts';
import { loadKubeconfig } from '../../../../kube/client/access.ts';
import { type, type Typed } from '../../../support/console.ts';
import { eventually } from '../../../support/eventually.ts';
import { LightAgents } from '../../../support/fleet/light-agents.ts';
import { HollowNodes } from '../../../support/hollow/hollow-nodes.ts';
import { kubeletStart } from '../inside/kubelet.ts';
import { run } from '../inside/program.ts';
import { scenario } from '../inside/scenario.ts';
import { dropIn, systemctl } from '../inside/systemctl.ts';

/** A command of a page; one that a test adds, and that has to end with 0; or one that prints what pages call `name`. */
export interface Scene {
  command: string;
  is: 'shown' | 'added' | 'named';
  name?: string;
}

const MAIN = new URL('../../../../cli/main.ts', import.meta.url).pathname;
const HOME = '/root';
const ADMIN = '/etc/kubernetes/admin.conf';
const META = '/var/lib/dkc/store/meta';
/** Node node-b is hollow, and so are the heartbeats of this one. */
const JOINS = 'node-b joins';
const programs = {
  // What is assigned has passed its trial.
  trusted: `until [ -s ${META}/assigned ] && cmp -s ${META}/assigned ${META}/last-known-good && [ ! -e ${META}/trial.json ]; do sleep 0.1; done`,
  idle: `until [ -z "$(systemctl list-jobs --no-legend)" ]; do sleep 0.1; done`,
};

/** A node of a cluster of today, with root at its console, who is also the cluster's admin, and packages of two versions in the home of root. */
await scenario(async ({ packages, scenes }: { packages: string[]; scenes: Scene[] }): Promise<Typed[]> => {
  run('hostname', 'node-a');
  // To rebuild the index of all manual pages takes ten seconds for each package, and is no work of ours.
  cpSync('/usr/bin/true', '/usr/bin/mandb');
  for (const file of packages.flatMap((folder) => globSync(`${folder}/*.deb`))) cpSync(file, `${HOME}/${basename(file)}`);
  for (const folder of ['/etc/kubernetes', `${HOME}/bin`]) mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(programs)) writeFileSync(`${HOME}/bin/${name}`, `#!/bin/bash\n${text}\n`, { mode: 0o755 });
  dropIn('kubelet.service', '[Service]\nRestartSec=300ms\n');
  run('systemd-run', '--quiet', '--unit=apiserver', process.execPath, MAIN, 'apiserver', `--write-kubeconfig=${ADMIN}`, '--kubernetes-version=1.36.3'); // prettier-ignore
  await eventually('the API server', () => globSync(ADMIN).length > 0);
  cpSync(ADMIN, '/etc/kubernetes/kubelet.conf');
  const client = createClient(await loadKubeconfig(ADMIN));
  const ending = new AbortController();
  const hollow = new HollowNodes({ client, clock: realClock, log: silentLog, heartbeatMs: 1_000 });
  void hollow.run(ending.signal);
  const agents = new LightAgents(client, realClock, { active: 100, trial: 100, condemned: 100 });
  await hollow.add([{ name: 'node-a', kubeletVersion: 'v1.34.2' }]);
  systemctl('enable', '--now', 'kubelet.service');
  await kubeletStart(1);

  const PATH = `${HOME}/bin:/usr/sbin:/usr/bin:/sbin:/bin`;
  const env: Record<string, string> = { PATH, HOME, KUBECONFIG: ADMIN, META, LC_ALL: 'C.UTF-8', DEBIAN_FRONTEND: 'noninteractive' };
  const called = new Map<string, string>();
  const seen: Typed[] = [];
  for (const { command, is, name = '' } of scenes) {
    if (command === JOINS) {
      await hollow.add([{ name: 'node-b', kubeletVersion: 'v1.34.2' }]);
      await agents.join('node-b');
      void agents.run();
      continue;
    }
    const words = is === 'shown' ? [...called].reduce((text, [there, here]) => text.replaceAll(there, here), command) : command;
    const typed = await type(words, { cwd: HOME, env });
    if (is !== 'shown' && (typed.code !== 0 || (is === 'named' && typed.output === '')))
      throw new Error(`${command} ended with ${typed.code}\n${typed.output}`);
    if (is === 'named') called.set(name, typed.output.trim());
    if (is === 'shown') {
      seen.push(typed);
      writeFileSync(`${HOME}/last`, typed.output);
    }
    await eventually('an end of all jobs', () => systemctl('list-jobs', '--no-legend') === '');
  }
  ending.abort();
  agents.stop();
  await client.close();
  return seen;
});
