import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clusterDemo } from '../../../../cli/demo/cluster-demo.ts';
import { connect } from '../../../../cli/connect/connect.ts';
import { decode, parseKubeletVersion } from '../../../../agent/config/config.ts';
import { payloads } from '../../../../cli/demo/stage.ts';
import { fatalHere } from '../../../../cli/demo/kubelet.ts';
import { barOf } from '../../../../cli/demo/fleet/fleet-story.ts';
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

test('of the configurations of the demo one is fatal, which decodes, and one does not validate', async () => {
  for (const [name, text] of Object.entries(payloads)) {
    const bytes = new TextEncoder().encode(text);
    const decoded = decode(bytes, parseKubeletVersion('1.30'));
    assert.equal(decoded.ok && fatalHere(decoded.written) !== undefined, name === 'deadly', name);
    const { code } = await runCli(['validate', '-', '--kubelet-version=1.30'], { stdin: async () => bytes });
    assert.equal(code, name === 'invalid' ? 1 : 0, name);
  }
});

test("the demo's bar shows what is settled, in flight and failed", () => {
  const nodes = { selected: 400, updated: 0, settled: 0, inFlight: 0, failed: 0, refused: 0 };
  assert.match(barOf({ step: 3, nodes: { ...nodes, settled: 200, inFlight: 40 } }, 4), /^ *█{12}▒{2}·{10} {2}step 3 of 4 · 200 of 400 settled · 40 in flight$/); // prettier-ignore
  assert.match(barOf({ phase: 'RollingBack', nodes: { ...nodes, settled: 400, failed: 9 } }, 4), /^ *█{24} {2}rolling back · 400 of 400 settled · 9 failed$/); // prettier-ignore
});
