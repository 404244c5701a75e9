import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { realClock } from '../../../base/clock.ts';
import { silentLog } from '../../../base/log.ts';
import { rollouts, type NodeConfigRollout } from '../../../controllers/rollout/types.ts';
import { eventually } from '../../support/eventually.ts';
import { LightAgents } from '../../support/fleet/light-agents.ts';
import { HollowNodes } from '../../support/hollow/hollow-nodes.ts';
import { adminClient } from '../../support/real-parts/admin-client.ts';
import { startControlPlane } from '../../support/real-parts/control-plane.ts';
import { givenRelease } from '../../support/real-parts/release.ts';
import { root } from './cluster/subject.ts';
import { type } from '../../support/console.ts';
import { commandsOn } from '../../support/docs-ledger.ts';
import { withRelease } from './suite.ts';

const NODES = ['node-a', 'node-b', 'node-c'];
const MOST_COMMANDS = 10;
const WEB = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPods: 120\n';

/** The commands of README, the package's once for each node. */
const commandsOfReadme = (): string[] =>
  commandsOn('README.md').flatMap(({ heading, command }) => {
    if (heading !== '## Three nodes, from nothing') return [];
    return command.startsWith('apt ') ? NODES.map(() => command) : [command];
  });

await withRelease("README's way from nothing to a configuration on three nodes", ['etcd', 'kube-apiserver', 'kubectl'], () => {
  test(`takes ${MOST_COMMANDS} commands or fewer, and they do it on a real API server`, async () => {
    const commands = commandsOfReadme();
    assert.ok(commands.length > NODES.length);
    assert.ok(commands.length <= MOST_COMMANDS, commands.join('\n'));
    await using ends = new AsyncDisposableStack();
    const home = await mkdtemp(join(tmpdir(), 'dkc-newcomer-'));
    ends.defer(() => rm(home, { recursive: true, force: true }));
    const release = await givenRelease();
    const plane = await startControlPlane({ release });
    ends.defer(() => plane.stop());
    const client = adminClient(plane);
    ends.defer(() => client.close());
    const { kubectl } = await release.programs(['kubectl']);
    await Promise.all(['bin', '.kube'].map((dir) => mkdir(join(home, dir))));
    await writeFile(join(home, 'bin/dkc'), `#!/bin/sh\nexec ${process.execPath} ${join(root, 'cli/main.ts')} "$@"\n`, { mode: 0o755 });
    await writeFile(join(home, '.kube/config'), plane.kubeconfig());
    const env = { PATH: `${home}/bin:${dirname(kubectl)}:/usr/bin:/bin`, HOME: home, LC_ALL: 'C.UTF-8' };

    // Nodes are simulated: what the package does to a real one is in docs/first-node.md.
    const ending = new AbortController();
    ends.defer(() => ending.abort());
    const hollow = new HollowNodes({ client, clock: realClock, log: silentLog, heartbeatMs: 1_000 });
    void hollow.run(ending.signal);
    const agents = new LightAgents(client, realClock, { active: 300, trial: 1_000, condemned: 1_000 });
    ends.defer(() => agents.stop());
    await hollow.add(NODES.map((name) => ({ name, kubeletVersion: `v${release.version}` })));

    for (const command of commands) {
      if (command.startsWith('apt ')) continue;
      if (command.startsWith('dkc render ')) {
        await writeFile(join(home, 'web.yaml'), WEB);
      } else if (command.endsWith('&')) {
        const line = `exec ${command.slice(0, -1)} --metrics-bind-address= --page-bind-address=`;
        const controllers = spawn('bash', ['-c', line], { cwd: home, env, stdio: 'ignore' });
        ends.defer(async () => {
          controllers.kill();
          if (controllers.exitCode === null) await once(controllers, 'exit');
        });
      } else {
        const { code, output } = await type(command, { cwd: home, env });
        assert.equal(code, 0, `${command}\n${output}`);
      }
      if (!command.startsWith('dkc deploy')) continue;
      // The agents of the packages look for the definitions again and again.
      await eventually('the definitions', () => Promise.all(NODES.map((name) => agents.join(name))).catch(() => undefined));
      void agents.run();
    }
    const { status } = await client.get<NodeConfigRollout>(rollouts, { name: 'web' });
    assert.equal(status?.phase, 'Complete');
    assert.equal(status.nodes?.settled, NODES.length);
    assert.equal(agents.mostInFlight, 1, 'one node at a time');
  });
});
