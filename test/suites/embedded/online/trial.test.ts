import assert from 'node:assert/strict';
import { once } from 'node:events';
import { appendFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { Cluster } from './cluster.ts';
import { changeEvent, config, HostedAgent, plainEvent, sourceOf } from './hosted-agent.ts';
import { statusErrors } from '../../../../agent/status/errors.ts';
import { realClock } from '../../../../base/clock.ts';
import { nodes, type KubeObject } from '../../../../kube/api/object.ts';
import { freePorts } from '../../../support/real-parts/free-ports.ts';

/** A kubelet's health endpoint. */
async function healthEndpoint(onAsked = () => {}): Promise<{ url: string; healthy: boolean; asked: number } & AsyncDisposable> {
  const server = createServer((_request, response) => {
    state.asked += 1;
    response.writeHead(state.healthy ? 200 : 500).end();
    onAsked();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const state = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/healthz`,
    healthy: true,
    asked: 0,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return state;
}

describe('a trial', { concurrency: 6 }, () => {
  let cluster: Cluster;
  before(async () => {
    cluster = await Cluster.start();
  });
  after(() => cluster.stop());

  const journalOf = async (agent: HostedAgent) => (await agent.store().journal()).map(({ event, source }) => `${event} ${source?.resourceVersion ?? 'local'}`); // prettier-ignore
  const give = async (agent: HostedAgent, maxPods: number, annotations = {}) => {
    const made = await cluster.configMap(agent.name, { data: { kubelet: config({ maxPods }) }, annotations });
    await cluster.assign(agent.name, agent.name);
    if (agent.starts === 0) agent.start();
    return made;
  };
  /** A node that trusts one config and has the next one on trial. */
  async function onTrial(
    agent: HostedAgent,
    health: { healthy: boolean },
    beforeBad = () => {},
  ): Promise<{ good: KubeObject; bad: KubeObject }> {
    health.healthy = true;
    const good = await give(agent, 50);
    await agent.reports(cluster, { assigned: sourceOf(good), active: sourceOf(good), lastKnownGood: sourceOf(good) });
    beforeBad();
    health.healthy = false;
    const bad = await give(agent, 60);
    await agent.reports(cluster, { assigned: sourceOf(bad), active: sourceOf(bad), lastKnownGood: sourceOf(good) });
    return { good, bad };
  }
  const wentBack = (agent: HostedAgent, assigned: KubeObject, good: KubeObject, error: string) =>
    agent.reports(cluster, { assigned: sourceOf(assigned), active: sourceOf(good), lastKnownGood: sourceOf(good), error });

  test('ends well: promoted, and the metrics say what status says', async () => {
    await using health = await healthEndpoint();
    const address = `127.0.0.1:${(await freePorts(1)).join()}`;
    await using agent = await HostedAgent.on(cluster, { kubeletHealthz: health.url, trialDuration: 300, metricsBindAddress: address });
    const made = await give(agent, 50);
    await agent.reports(cluster, { assigned: sourceOf(made), active: sourceOf(made), lastKnownGood: sourceOf(made) });
    // A probe may stand for three periods, so that a slow machine is no shorter trial.
    assert.ok(health.asked >= 3, `the kubelet was asked ${health.asked} times`);
    await agent.says('trial passed');
    await agent.until('the end of the trial on disk', async () => ((await agent.store().trial()) === undefined ? true : undefined));
    assert.deepEqual(await journalOf(agent), ['booted local', `assigned ${made.metadata.resourceVersion}`, `booted ${made.metadata.resourceVersion}`, `promoted ${made.metadata.resourceVersion}`]); // prettier-ignore

    const upstream = async () => (await (await fetch(`http://${address}/metrics`)).text()).split('\n').filter((line) => line.startsWith('kubelet_node_config')); // prettier-ignore
    const { uid, resourceVersion } = made.metadata;
    const labels = `{node_config_source="/api/v1/namespaces/dkc-system/configmaps/${agent.name}",node_config_uid="${uid}",node_config_resource_version="${resourceVersion}",node_config_kubelet_key="kubelet"}`;
    assert.deepEqual(await upstream(), [
      `kubelet_node_config_assigned${labels} 1`,
      `kubelet_node_config_active${labels} 1`,
      `kubelet_node_config_last_known_good${labels} 1`,
      'kubelet_node_config_error 0',
    ]);
    await cluster.removeConfigMap(agent.name);
    await agent.reportsError(cluster, statusErrors.download);
    assert.equal((await upstream()).at(-1), 'kubelet_node_config_error 1');
    await cluster.configSource(agent.name, null);
    await agent.reports(cluster, {});
    const none = '{node_config_source="local",node_config_uid="",node_config_resource_version="",node_config_kubelet_key=""}';
    assert.deepEqual(await upstream(), [
      `kubelet_node_config_assigned${none} 1`,
      `kubelet_node_config_active${none} 1`,
      `kubelet_node_config_last_known_good${none} 1`,
      'kubelet_node_config_error 0',
    ]);
  });

  test('sums health over starts of the agent', async () => {
    await using health = await healthEndpoint(() => cluster.bell.ring());
    // Time passes as the test says: else a trial might end while a busy machine stops and starts the agent.
    let passed = 0;
    const clock = { ...realClock, monotonic: () => passed };
    await using agent = await HostedAgent.on(cluster, { clock, kubeletHealthz: health.url, trialDuration: 1500 });
    const made = await give(agent, 50);
    await agent.reports(cluster, { assigned: sourceOf(made), active: sourceOf(made) });
    const trial = () => agent.store().trial();
    const healthy = async () => (await trial())?.healthyMs;
    /** When a probe is asked for, all of the one before it is done. */
    const twoProbes = async (): Promise<void> => {
      const enough = health.asked + 2;
      await agent.until('two probes', async () => (health.asked >= enough || (await trial()) === undefined ? true : undefined));
    };
    /** The longest time that one probe may stand for passes between two of them. */
    const passSpan = async (): Promise<void> => {
      await twoProbes();
      passed += 450;
      await twoProbes();
    };
    for (let stops = 0; stops < 2; stops++) {
      const before = stops * 450;
      // A probe that a busy machine answers late is no health.
      while ((await healthy()) === before) await passSpan();
      await agent.stop();
      assert.equal(await healthy(), before + 450, 'what was seen is saved');
      agent.start();
      await agent.ready(stops + 3);
      assert.equal(await healthy(), before + 450, 'and goes on from there');
    }
    while ((await healthy()) === 900) await passSpan();
    assert.equal(await healthy(), 1350, 'not enough yet');
    while ((await healthy()) === 1350) await passSpan();
    await agent.reports(cluster, { assigned: sourceOf(made), active: sourceOf(made), lastKnownGood: sourceOf(made) });
    const promoted = await agent.until('it in the journal', async () =>
      (await agent.store().journal()).find(({ event }) => event === 'promoted'),
    );
    assert.equal(promoted.detail, 'healthy for 2 s');
  });

  test('three ends of the kubelet condemn; a touched label does not bring it back, dkc retry does', async () => {
    await using health = await healthEndpoint();
    await using agent = await HostedAgent.on(cluster, { kubeletHealthz: health.url, trialDuration: 100 });
    const { good, bad } = await onTrial(agent, health);
    const starts = agent.starts;
    await agent.kubeletEnds('success'); // asked for: says nothing
    await appendFile(agent.options.kubeletExits, 'what is this\n\u0000\n');
    await agent.says('lines of the exits file are skipped');
    for (let ends = 0; ends < 3; ends++) await agent.kubeletEnds();
    await wentBack(agent, bad, good, statusErrors.failedTrial);
    assert.equal(agent.starts, starts + 1);
    assert.equal(await agent.effectiveField('maxPods'), '50');
    const [record] = await agent.store().condemned();
    assert.equal(record?.reason, 'kubelet exited 3 times');
    assert.equal(record.evidence.length, 4);
    assert.match(record.evidence[0] ?? '', /exited with status 255$/);

    const touched = await cluster.configMap(agent.name, { labels: { touched: 'yes' } });
    await agent.says(
      'checkpoint saved',
      agent.said.findIndex(({ text }) => text.startsWith('trial failed')),
    );
    await agent.until('the touched one on disk', async () => ((await agent.store().list()).some(({ ref }) => ref.resourceVersion === touched.metadata.resourceVersion) ? true : undefined)); // prettier-ignore
    await wentBack(agent, bad, good, statusErrors.failedTrial);
    assert.equal(agent.starts, starts + 1);
    const warnings = (): unknown[] =>
      cluster
        .events(agent.name)
        .filter(({ type }) => type === 'Warning')
        .map(({ reason }) => reason);
    await agent.until('both warnings', () => (warnings().length >= 2 ? true : undefined));
    assert.deepEqual(warnings(), ['KubeletConfigCondemned', 'KubeletConfigRolledBack'], 'nothing new happened');
    const evidence = String(cluster.events(agent.name).find(({ reason }) => reason === 'KubeletConfigCondemned')?.['message']);
    assert.match(evidence, /: kubelet exited 3 times; .*exited with status 255; .*last health:/);

    health.healthy = true;
    const ran = await agent.dkc('retry');
    assert.equal(ran.code, 0, ran.stderr);
    assert.match(ran.stderr, /is no longer condemned/);
    await agent.reports(cluster, { assigned: sourceOf(touched), active: sourceOf(touched), lastKnownGood: sourceOf(touched) });
    assert.equal(await agent.effectiveField('maxPods'), '60');
  });

  test('a kubelet that is not healthy until the deadline condemns; a new value of dkc.dev/retry lifts it', async () => {
    await using health = await healthEndpoint();
    // Time stands still until the bad one is reported as active: a busy machine may need longer for that than the deadline is away.
    let held: number | undefined;
    const clock = { ...realClock, monotonic: () => held ?? realClock.monotonic() };
    await using agent = await HostedAgent.on(cluster, {
      clock,
      kubeletHealthz: health.url,
      trialDuration: 100,
      unhealthyDeadline: 300,
    });
    const { good, bad } = await onTrial(agent, health, () => (held = realClock.monotonic()));
    held = undefined;
    await wentBack(agent, bad, good, statusErrors.failedTrial);
    assert.match((await agent.store().condemned())[0]?.reason ?? '', /^kubelet was not healthy for/);
    const events = cluster.events(agent.name).length;
    health.healthy = true;
    const again = await cluster.configMap(agent.name, { annotations: { 'dkc.dev/retry': '1' } });
    await agent.reports(cluster, { assigned: sourceOf(again), active: sourceOf(again), lastKnownGood: sourceOf(again) });
    const since = cluster.events(agent.name).slice(events);
    assert.deepEqual(since.filter(({ reason }) => reason === 'KubeletConfigChanged').map(plainEvent), [changeEvent(agent.name, again)]);
    await agent.until('the word of it', () => cluster.events(agent.name).find(({ reason }) => reason === 'KubeletConfigRetried'));
    assert.ok((await journalOf(agent)).includes(`retried ${again.metadata.resourceVersion}`));
    assert.deepEqual(await agent.store().condemned(), []);
  });

  test('a kubelet that is healthy on a Node that is no longer Ready does not pass, and the Node says why', async () => {
    await using health = await healthEndpoint();
    await using agent = await HostedAgent.on(cluster, { kubeletHealthz: health.url, trialDuration: 2000, unhealthyDeadline: 1000 });
    const ready = async (status: 'True' | 'False', why: string): Promise<void> => {
      const at = new Date().toISOString().replace(/\.\d+Z$/, 'Z');
      const condition = { type: 'Ready', status, reason: why, message: 'cni', lastHeartbeatTime: at, lastTransitionTime: at };
      await cluster.admin.patch(
        nodes,
        { name: agent.name },
        { status: { conditions: [condition] } },
        { type: 'merge', subresource: 'status' },
      );
    };
    const bad = await give(agent, 60);
    await agent.reports(cluster, { assigned: sourceOf(bad), active: sourceOf(bad) });
    await ready('False', 'NetworkPluginNotReady');
    await agent.reports(cluster, { assigned: sourceOf(bad), error: statusErrors.failedTrial });
    const evidence = (await agent.store().condemned())[0]?.evidence.at(-1);
    assert.equal(evidence, 'last health: Node is not Ready: NetworkPluginNotReady: cni');
  });

  test('a config that is last known good is told of, not condemned', async () => {
    await using health = await healthEndpoint();
    await using agent = await HostedAgent.on(cluster, { kubeletHealthz: health.url, trialDuration: 100 });
    const good = await give(agent, 50);
    const trusted = { assigned: sourceOf(good), active: sourceOf(good), lastKnownGood: sourceOf(good) };
    await agent.reports(cluster, trusted);
    const starts = agent.starts;
    for (let ends = 0; ends < 3; ends++) await agent.kubeletEnds();
    const warning = await agent.until('a warning', () => cluster.events(agent.name).find(({ type }) => type === 'Warning'));
    assert.equal(warning['reason'], 'KubeletUnhealthy');
    assert.deepEqual(await agent.store().condemned(), []);
    assert.equal(agent.starts, starts);
    await agent.reports(cluster, trusted);
  });

  test('an admin rolls back with the API server away; the server hears of it later', async () => {
    const own = await Cluster.start();
    try {
      await using health = await healthEndpoint();
      await using agent = await HostedAgent.on(own, { kubeletHealthz: health.url, trialDuration: 100 });
      const made = await own.configMap(agent.name, { data: { kubelet: config({ maxPods: 50 }) } });
      await own.assign(agent.name, agent.name);
      agent.start();
      await agent.reports(own, { assigned: sourceOf(made), active: sourceOf(made), lastKnownGood: sourceOf(made) });
      await own.server.hooks.pause();
      const ran = await agent.dkc('rollback', '--reason=pods evicted');
      assert.equal(ran.code, 0, ran.stderr);
      await agent.until('the start after it', () => (agent.readies >= 3 ? true : undefined));
      // The only trusted one is the very content that was rolled back: local it is.
      assert.equal(await agent.effectiveField('maxPods'), '110');
      await own.server.hooks.resume();
      await agent.reports(own, { assigned: sourceOf(made), lastKnownGood: sourceOf(made), error: statusErrors.rolledBack });
      assert.equal((await agent.dkc('retry')).code, 0);
      await agent.reports(own, { assigned: sourceOf(made), active: sourceOf(made), lastKnownGood: sourceOf(made) });
    } finally {
      await own.stop();
    }
  });
});
