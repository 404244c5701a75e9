import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { started } from '../../unit/apiserver/started.ts';
import { eventually } from '../../support/eventually.ts';
import { startControlPlane } from '../../support/real-parts/control-plane.ts';
import { comparedReleases } from '../../support/real-parts/release.ts';
import { commands } from './kubectl/commands.ts';
import { differencesOf } from './kubectl/differences.ts';
import { normalised } from './kubectl/normalised.ts';
import { withRealParts } from './suite.ts';

/*
 * The kubectl of a release does the same on the embedded server of that version and on a real one, and what it prints is compared. What differs on
 * purpose is a line of kubectl/differences.ts, and a line that no longer holds is a failure too.
 */

/** Files that the commands name. */
const files = join(import.meta.dirname, '../../../fixtures/kubectl');

/** What each command printed, in the order of the commands. */
async function drive(kubectl: string, kubeconfig: string): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'dkc-kubectl-'));
  try {
    await cp(files, folder, { recursive: true });
    await writeFile(join(folder, 'config'), kubeconfig, { mode: 0o600 });
    const editor = join(folder, 'editor');
    const env = { PATH: process.env['PATH'] ?? '', HOME: folder, KUBECONFIG: join(folder, 'config'), EDITOR: editor, TZ: 'UTC' };
    const run = (words: readonly string[]): Promise<string> =>
      new Promise((resolve) => {
        const child = execFile(kubectl, words, { cwd: folder, env, timeout: 300_000 }, (error, stdout, stderr) => {
          resolve(`${stdout}${stderr}${error === null ? '' : `exit ${String(error.code ?? error.signal)}\n`}`);
        });
        child.stdin?.end();
      });
    const printed: string[] = [];
    for (const command of commands) {
      printed.push(normalised(await run(wordsOf(command)), folder));
      if (!command.startsWith('wait --for=condition=Established')) continue;
      // A real server says so before everybody can find the new kind.
      const isServed = async (): Promise<boolean> => (await run(['get', '--raw', '/apis/example.com/v1'])).includes('"widgets"');
      await eventually('the new kind is served', async () => await isServed());
    }
    return printed;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Where a word has spaces of its own, two stand before it. */
function wordsOf(command: string): string[] {
  const [first = '', ...whole] = command.split('  ');
  return [...first.split(' '), ...whole];
}

const parts = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kubectl'] as const;

for (const release of await comparedReleases('kubectl')) {
  const compare = (): void => {
    describe('prints the same on the embedded server and on a real one', () => {
      const differences = differencesOf(release.minor);
      let [ours, real]: string[][] = [[], []];
      before(async () => {
        const { kubectl } = await release.programs(parts);
        const plane = await startControlPlane({ release, controllers: 'namespace,garbagecollector' });
        const { server } = await started({ version: `v${release.version}` });
        try {
          [ours, real] = await Promise.all([server.kubeconfig(), plane.kubeconfig()].map((config) => drive(kubectl, config)));
        } finally {
          await server.stop();
          await plane.stop();
        }
      });
      after(() => {
        const stale = Object.keys(differences).filter((command) => !commands.includes(command));
        assert.deepEqual(stale, [], 'differences of commands that are not run');
      });

      for (const [index, command] of commands.entries()) {
        test(command, () => {
          const why = differences[command];
          if (why === undefined) assert.equal(ours?.[index], real?.[index]);
          else assert.notEqual(ours?.[index], real?.[index], `no longer differs, so take it out of the differences: ${why}`);
        });
      }
    });
  };
  await withRealParts(`kubectl ${release.version}`, parts, compare, release);
}
