import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nodeConfigDefinition } from '../../../../deploy/nodeconfig-crd.ts';
import { eventually } from '../../../support/eventually.ts';
import { ApiHttp } from '../../../support/api-http.ts';
import { fatalRows, type FatalRow } from '../../../support/fatal-rows.ts';
import { startControlPlane } from '../../../support/real-parts/control-plane.ts';
import { builtRelease, givenRelease } from '../../../support/real-parts/release.ts';
import { withRealParts } from '../suite.ts';
import { AgentNode } from './agent-node.ts';
import { Stage, subjectOf } from './stage.ts';

/** As in rows.test.ts; without it nothing is played, as each row takes a minute or more. */
const asked = process.env['DKC_FATAL'] ?? '';
/** Whether it keeps a kubelet from being healthy, Ready or with its pods, so that it must be refused or undone. */
const isBad = ({ kubelet, machine, config }: FatalRow): boolean =>
  kubelet !== undefined &&
  kubelet !== 'lives' &&
  kubelet !== 'server fails' &&
  (kubelet !== 'pods fail' || (machine?.pods ?? []).length > 0) &&
  config !== undefined;
/** What is wrong with the machine is wrong with the local config too. */
const isOfMachine = ({ machine }: FatalRow): boolean =>
  machine?.state !== undefined ||
  machine?.sysctlsReadOnly === true ||
  machine?.runtime?.notReady !== undefined ||
  machine?.runtime?.driver === 'SYSTEMD';
/** The agent's kubelet has an API server. */
const hasNoApi = ({ args }: FatalRow): boolean => args !== undefined;
const isAsked = ({ ci, why }: FatalRow): boolean =>
  asked !== '' && (asked === 'all' || (asked === 'ci' ? ci === true : new RegExp(asked).test(why)));
const AT_ONCE = 2;
/** Long enough for evictions, which come one by one; short enough to wait for. */
const limits = ['--trial-duration=75s', '--unhealthy-deadline=10s', '--trial-health=pods'];

const tables = [
  { file: 'valid-but-fatal-1.36.yaml', minor: '1.36', release: await givenRelease(), parts: ['kubelet', 'cri-v1.proto'] },
  { file: 'valid-but-fatal.yaml', minor: '1.20', release: builtRelease, parts: ['kubelet'] },
];

for (const { file, minor, release, parts } of tables) {
  const rows = (fatalRows(file)[minor] ?? []).filter((row) => isAsked(row) && isBad(row) && !isOfMachine(row) && !hasNoApi(row));
  if (rows.length === 0) continue;
  await withRealParts(
    `an agent beside a kubelet ${release.version}`,
    [...parts, 'etcd', 'kube-apiserver'],
    () => {
      test('refuses or undoes whatever keeps it from being healthy with its pods', { timeout: 3_600_000 }, async (t) => {
        const subject = await subjectOf(release);
        const name = (n: number): string => `undone-${n}`;
        const plane = await startControlPlane({ release, nodes: rows.map((_, n) => name(n)) });
        t.after(() => plane.stop());
        const api = new ApiHttp({ url: plane.url, ca: plane.ca, token: plane.adminToken });
        const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
        assert.equal((await api.call('POST', path, { body: nodeConfigDefinition({ cel: release.minor >= 25 }) })).code, 201);
        await eventually(
          'the definition to be served',
          async () => (await api.call('GET', '/apis/dkc.dev/v1alpha1/nodeconfigs')).code === 200,
        );

        const wrong: string[] = [];
        const counts = new Map<string, number>();
        let next = 0;
        const one = async (): Promise<void> => {
          for (let n = next++; n < rows.length; n = next++) {
            const row = rows[n] as FatalRow;
            const stage = await Stage.arrange(row, name(n), subject, plane);
            const node = new AgentNode(stage);
            try {
              await node.start(limits);
              for (const [k, pod] of (row.machine?.pods ?? [{}]).entries()) await stage.node.podRuns(`before-${k}`, pod);
              const { end, reason, endMs, healthyMs, starts } = await node.assign();
              counts.set(end, (counts.get(end) ?? 0) + 1);
              const wanted = row.error === undefined && row.refused !== true ? 'rolled back' : 'refused';
              const isHarmless = row.or === 'lives' && end === 'kept';
              if (end !== wanted && row.unseen !== true && !isHarmless) wrong.push(`${row.why}: it is ${end}, not ${wanted}`);
              // What the kubelet rejected has failed for good; everybody else, and whoever comes next, must run.
              await stage.node.podRuns('after', {});
              if (row.kubelet !== 'pods fail' && (await stage.node.phase('before-0')) !== 'Running')
                wrong.push(`${row.why}: the pod of before does not run`);
              t.diagnostic(
                `${row.why}: ${end} after ${endMs} ms (${reason || 'before any restart'}), well after ${healthyMs} ms, ${starts} starts on it`,
              );
            } catch (error) {
              wrong.push(`${row.why}: ${String(error)}`);
            } finally {
              await node.close();
              await stage.close();
            }
          }
        };
        await Promise.all(Array.from({ length: AT_ONCE }, one));
        for (const [end, count] of counts) t.diagnostic(`${end}: ${count}`);
        assert.deepEqual(wrong, []);
      });
    },
    release,
  );
}
