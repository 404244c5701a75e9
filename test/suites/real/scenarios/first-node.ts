import { cpSync, existsSync, globSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { run } from '../../systemd/inside/program.ts';
import { scenario } from '../../systemd/inside/scenario.ts';
import { property, settled, systemctl } from '../../systemd/inside/systemctl.ts';
import { eventually } from '../../../support/eventually.ts';
import { type, type Typed as Printed } from '../../../support/console.ts';
import { NODE } from '../inside/names.ts';
import { ADMIN, joinedNode } from '../inside/release-cluster.ts';
import { isHealthy, kubeletLife } from '../inside/node.ts';

/** A command that was typed. */
export interface Typed extends Printed {
  command: string;
  ms: number;
  /** The kubelet is another process afterwards. */
  kubeletRestarted: boolean;
}

interface Options {
  programs: string;
  /** Folders with packages; what fits `*.deb` and `*.tar.gz` is copied to the home of root. */
  packages: string[];
  commands: string[];
}

const HOME = '/root/first-node';

/** A node of a kubeadm cluster that has joined, with root at its console, who is also the cluster's admin. */
await scenario(async ({ programs, packages, commands }: Options): Promise<Typed[]> => {
  run('hostname', NODE);
  const { plane, kubectl } = await joinedNode(programs);
  mkdirSync(`${HOME}/bin`, { recursive: true });
  symlinkSync(kubectl, `${HOME}/bin/kubectl`);
  // This is the node that it leads to.
  writeFileSync(`${HOME}/bin/ssh`, '#!/bin/sh\nshift\nexec "$@"\n', { mode: 0o755 });
  // To rebuild the index of all manual pages takes five seconds for each package, and is no work of ours.
  cpSync('/usr/bin/true', '/usr/bin/mandb');
  for (const file of packages.flatMap((folder) => globSync(`${folder}/*.{deb,tar.gz}`))) cpSync(file, `${HOME}/${basename(file)}`);
  const env = {
    PATH: `${HOME}/bin:/usr/sbin:/usr/bin:/sbin:/bin`,
    HOME,
    NODE,
    KUBECONFIG: ADMIN,
    LC_ALL: 'C.UTF-8',
    DEBIAN_FRONTEND: 'noninteractive',
  };
  systemctl('enable', '--now', 'kubelet.service');
  const isReady = async (): Promise<boolean> =>
    (await type(`kubectl get node ${NODE} --no-headers`, { cwd: HOME, env })).output.includes(' Ready ');
  await eventually('a Node that is Ready', isReady, 120_000);

  // An agent that started before the definitions were there looks for them again a minute later; the page starts it anew.
  let hasCluster = false;
  const isSettled = (status: string): boolean =>
    !/^State: +pending/m.test(status) && /^Kubelet: +healthy/m.test(status) && !(hasCluster && /^Assignment by: +unknown/m.test(status));
  const typed: Typed[] = [];
  for (const command of commands) {
    const before = kubeletLife().began;
    const from = performance.now();
    const printed = await type(command, { cwd: HOME, env });
    hasCluster ||= command === 'systemctl restart dkc-agent';
    const ms = Math.round(performance.now() - from);
    if (existsSync('/usr/bin/dkc')) {
      // What is on the disk is applied, and then the agent that did it has asked for a restart of the kubelet, which it does not wait for.
      await eventually(`the agent after ${command}`, async () => isSettled((await type('dkc status', { cwd: HOME, env })).output), 120_000);
      await settled();
      await eventually('a healthy kubelet', isHealthy);
    }
    await eventually('an end of all jobs', () => systemctl('list-jobs', '--no-legend') === '');
    await eventually('a kubelet', () => property('kubelet.service', 'SubState') === 'running');
    typed.push({ ...printed, command, ms, kubeletRestarted: kubeletLife().began !== before });
  }
  await plane.stop();
  return typed;
});
