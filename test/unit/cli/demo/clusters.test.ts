import assert from 'node:assert/strict';
import { access } from 'node:fs/promises';
import { test } from 'node:test';
import { fine } from '../../../../cli/command.ts';
import { buildCluster } from '../../../../cli/demo/cluster/demo-cluster.ts';
import { Interrupted } from '../../../../cli/failure.ts';
import { clusterDemo } from '../../../../cli/demo/cluster-demo.ts';
import { connect } from '../../../../cli/connect/connect.ts';
import { cliContext, runCli } from '../../../support/cli-context.ts';

/** What each demo says and shows, in this order. A story that does not end as told fails by itself. */
const stories = {
  scheduler: [
    /3 nodes with 7 CPUs each run the 3 pods of StatefulSet db and 18 of the 200 that Deployment web wants; .*, 182 are pending/,
    /\$ dkc why pod shop\/db-2\n.*REASON.*\n.*NodeResourcesFit +3 of 3 nodes: Insufficient cpu/,
    /event ReservationCreated: Room of pod shop\/db-2 on node (node-\d) is kept until .*\n.*event ReservationUsed: Placed in the room kept on node \1\n/,
    /Done in [\d.]+ s\.\n$/,
  ],
  controllers: [
    /\$ dkc why daemonset shop\/proxy\n.*NODE.*\n.*runs[^]*paused .*the rollout is paused by dkc\.dev\/paused/,
    /condition Stalled: pod proxy-\w+ on node node-1: .*\n/,
    /all volumes grow, no pod is restarted\n.*event ClaimExpanded: Claim data-db-\d of StatefulSet db now requests 2Gi/,
    /Done in [\d.]+ s\.\n$/,
  ],
};

for (const [name, says] of Object.entries(stories)) {
  test(`dkc demo ${name} tells its story to the end`, async () => {
    const { code, stdout, stderr } = await runCli(['demo', name], { connect: (query) => connect(query, {}) });
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' }, stdout);
    let rest = stdout;
    for (const line of says) {
      const found = line.exec(rest) ?? assert.fail(`${line} is not said, or not here:\n${stdout}`);
      rest = rest.slice(found.index + found[0].length);
    }
  });
}

test('a story of a cluster that does not end as told ends with 1 and says why', async () => {
  const { context } = cliContext();
  const exit = await clusterDemo(context, () => Promise.reject(new Error('db-2 was lost')), false, []);
  assert.deepEqual(exit, { code: 1, why: 'the demo failed: db-2 was lost' });
});

test('with --keep the cluster stays up until Ctrl-C, and nothing is left behind', async () => {
  const control = new AbortController();
  let kubeconfig = '';
  const { context, out } = cliContext({ signal: control.signal });
  const tell: Parameters<typeof clusterDemo>[1] = async (world, _teller, undo) => {
    const cluster = undo.use(await buildCluster(world, { count: 1, cpus: 1 }));
    kubeconfig = cluster.kubeconfig;
    return cluster;
  };
  const write = (text: string): void => {
    context.stdout.write(text);
    if (text.includes('until Ctrl-C')) void access(kubeconfig).then(() => control.abort());
  };
  const watched = { ...context, stdout: { ...context.stdout, write } };
  assert.deepEqual(await clusterDemo(watched, tell, true, ['kubectl get nodes']), fine);
  assert.match(out(), new RegExp(`  export KUBECONFIG=${kubeconfig}\n  alias dkc='.*'\n  kubectl get nodes\n`));
  await assert.rejects(access(kubeconfig), { code: 'ENOENT' });
});

test('Ctrl-C in a demo ends with 130, as in every command', async () => {
  const stopped = { signal: AbortSignal.abort(new Interrupted()), connect: (query: object) => connect(query, {}) };
  assert.equal((await runCli(['demo', 'scheduler'], stopped)).code, 130);
});
