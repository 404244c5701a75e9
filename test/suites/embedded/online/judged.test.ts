import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { Cluster } from './cluster.ts';
import { changeEvent, config, HostedAgent, plainEvent, sourceOf } from './hosted-agent.ts';
import { statusErrors } from '../../../../agent/status/errors.ts';
import { layout } from '../../../../agent/store/layout.ts';

describe('a config is judged before the kubelet sees it', { concurrency: 6 }, () => {
  let cluster: Cluster;
  before(async () => {
    cluster = await Cluster.start();
  });
  after(() => cluster.stop());

  // Without trust: when it comes depends on how long the rest takes.
  const eventsOf = (agent: HostedAgent) =>
    cluster
      .events(agent.name)
      .map(plainEvent)
      .filter(({ reason }) => reason !== 'KubeletConfigTrusted');
  const refusals = (agent: HostedAgent) => eventsOf(agent).filter(({ reason }) => reason === 'KubeletConfigRefused');

  /** Gives the node's own ConfigMap this data and waits for what it reports. */
  async function give(agent: HostedAgent, kubelet: string, more: Parameters<Cluster['configMap']>[1] = {}) {
    const made = await cluster.configMap(agent.name, { ...more, data: { kubelet, ...more.data } });
    await cluster.assign(agent.name, agent.name);
    if (agent.starts === 0) agent.start();
    return made;
  }

  test('an invalid one: nothing restarts, the evidence stays, one warning over restarts, gone when it is mended', async () => {
    await using agent = await HostedAgent.on(cluster);
    const good = await give(agent, config({ maxPods: 50 }));
    const both = { assigned: sourceOf(good), active: sourceOf(good) };
    await agent.reports(cluster, both);
    const bad = await give(agent, config({ maxPods: -77_777, imageGCHighThresholdPercent: 88_888 }));
    await agent.reports(cluster, { ...both, error: statusErrors.validate });
    assert.equal(agent.starts, 2);
    assert.equal(await agent.effectiveField('maxPods'), '50');
    assert.deepEqual(await agent.store().record('assigned'), { at: 'known', source: both.assigned.configMap });
    const { uid, resourceVersion } = bad.metadata;
    assert.equal((await agent.store().load({ uid, resourceVersion })).at, 'intact');
    const [refused] = refusals(agent);
    assert.ok(refused);
    const { message, ...rest } = refused;
    const { message: _message, ...shape } = changeEvent(agent.name, null);
    assert.deepEqual(rest, { ...shape, type: 'Warning', reason: 'KubeletConfigRefused' });
    assert.match(
      String(message),
      new RegExp(
        `^Refused /api/v1/namespaces/dkc-system/configmaps/${agent.name}, UID: ${uid}, ResourceVersion: ${resourceVersion}, KubeletConfigKey: kubelet: `,
      ),
    );
    for (const field of ['maxPods', 'imageGCHighThresholdPercent']) assert.ok(String(message).includes(field), field);
    assert.doesNotMatch(String(message), /77777|88888/, "values are nobody's business");
    for (let start = 3; start <= 4; start++) {
      await agent.stop();
      agent.start();
      await agent.until('a look at the ConfigMap', () =>
        agent.calls.filter((call) => call === 'watch configmaps').length >= start ? true : undefined,
      );
      await agent.until('the error', async () => ((await agent.activeRecord())?.error === statusErrors.validate ? true : undefined));
    }
    assert.equal(refusals(agent).length, 1);
    const mended = await give(agent, config({ maxPods: 51 }));
    await agent.reports(cluster, { assigned: sourceOf(mended), active: sourceOf(mended) });
    assert.equal(refusals(agent).length, 1);
  });

  test('one that goes back to the good content after a refusal clears the error without a restart', async () => {
    await using agent = await HostedAgent.on(cluster);
    await give(agent, config({ maxPods: 50 }));
    await agent.until('two starts', () => (agent.readies === 2 ? true : undefined));
    await give(agent, 'maxPods: [');
    await agent.reportsError(cluster, statusErrors.load);
    const back = await give(agent, config({ maxPods: 50 }));
    await agent.reports(cluster, { assigned: sourceOf(back), active: sourceOf(back) });
    assert.equal(agent.starts, 2);
  });

  const errors = [
    { why: 'no YAML', kubelet: 'maxPods: [', error: statusErrors.load },
    { why: 'empty', kubelet: '', error: statusErrors.load },
    { why: 'of another kind', kubelet: 'apiVersion: v1\nkind: Pod\n', error: statusErrors.load },
    { why: 'of a wrong type', kubelet: config({ maxPods: 'many' }), error: statusErrors.load },
    { why: 'against a rule', kubelet: config({ maxPods: -1 }), error: statusErrors.validate },
    { why: 'against the policy', kubelet: config({ cgroupDriver: 'systemd' }), error: statusErrors.validate },
    { why: 'fatal on this host', kubelet: config({ authentication: { x509: { clientCAFile: '/nowhere/ca.crt' } } }), annotations: { 'dkc.dev/allow': 'authentication' }, error: statusErrors.validate }, // prettier-ignore
  ];
  for (const { why, kubelet, annotations = {}, error } of errors) {
    test(`a config that is ${why} is refused: ${error}`, async () => {
      await using agent = await HostedAgent.on(cluster);
      await give(agent, kubelet, { annotations });
      await agent.reports(cluster, { error });
      assert.equal(refusals(agent).length, 1);
      assert.equal(agent.starts, 1);
    });
  }

  test('a ConfigMap without the key is refused', async () => {
    await using agent = await HostedAgent.on(cluster);
    await cluster.configMap(agent.name, { data: { other: config() } });
    await cluster.assign(agent.name, agent.name);
    agent.start();
    await agent.reports(cluster, { error: statusErrors.load });
  });

  test('without preflight: assigned, restarted, and then the fall back', async () => {
    await using agent = await HostedAgent.on(cluster, { preflight: false, trialDuration: 100 });
    const good = await give(agent, config({ maxPods: 50 }));
    const trusted = sourceOf(good);
    await agent.reports(cluster, { assigned: trusted, active: trusted, lastKnownGood: trusted });
    const bad = await give(agent, config({ maxPods: -5 }));
    await agent.reports(cluster, { assigned: sourceOf(bad), active: trusted, lastKnownGood: trusted, error: statusErrors.validate });
    assert.deepEqual(eventsOf(agent), [changeEvent(agent.name, good), changeEvent(agent.name, bad)]);
    assert.deepEqual(agent.exitCodes, [0, 0]);
    assert.equal(await agent.effectiveField('maxPods'), '50');
    const broken = await give(agent, 'kind: [');
    await agent.reports(cluster, { assigned: sourceOf(broken), active: trusted, lastKnownGood: trusted, error: statusErrors.load });
    await agent.stop();
    const starts = agent.starts;
    agent.start();
    await agent.ready(starts + 1);
    await agent.reports(cluster, { assigned: sourceOf(broken), active: trusted, lastKnownGood: trusted, error: statusErrors.load });
    assert.equal(agent.starts, starts + 1, 'agent and boot do not chase each other');
  });

  test('a damaged checkpoint and damaged records: said in status, mended from the server', async () => {
    await using agent = await HostedAgent.on(cluster);
    const good = await give(agent, config({ maxPods: 50 }));
    const both = { assigned: sourceOf(good), active: sourceOf(good) };
    await agent.reports(cluster, both);
    await agent.stop();
    const { uid, resourceVersion } = good.metadata;
    const paths = layout(agent.options.dynamicConfigDir);
    await writeFile(paths.file({ uid, resourceVersion }, 'kubelet'), 'torn');
    let from = agent.said.length;
    agent.start();
    await agent.says('checkpoint cannot be loaded', from);
    await agent.says('checkpoint saved', from);
    await agent.reports(cluster, both);
    await agent.stop();
    await writeFile(paths.meta('assigned'), 'source: [');
    from = agent.said.length;
    agent.start();
    await agent.says('damaged record is set aside', from);
    await agent.reports(cluster, both);
    assert.ok(agent.exitCodes.every((code) => code === 0));
  });

  test('the flags of the kubelet cannot be merged: internal failure', async () => {
    await using agent = await HostedAgent.on(cluster);
    agent.options.kubeletArgs = join(agent.dir, 'args');
    await writeFile(agent.options.kubeletArgs, '--max-pods=many\n');
    await give(agent, config({ maxPods: 50 }));
    await agent.reportsError(cluster, statusErrors.internal);
    assert.equal(agent.starts, 1);
  });

  test('relative paths point into the checkpoint, at its sibling keys', async () => {
    await using agent = await HostedAgent.on(cluster);
    const made = await give(agent, config({ resolvConf: 'resolv', staticPodPath: '/abs' }), {
      data: { resolv: 'nameserver 127.0.0.1\n' },
      annotations: { 'dkc.dev/allow': 'resolvConf,staticPodPath' },
    });
    await agent.reports(cluster, { assigned: sourceOf(made), active: sourceOf(made) });
    const { uid, resourceVersion } = made.metadata;
    const path = layout(agent.options.dynamicConfigDir).file({ uid, resourceVersion }, 'resolv');
    assert.equal(await agent.effectiveField('resolvConf'), path);
    assert.equal(await agent.effectiveField('staticPodPath'), '/abs');
    // Under a new name the file stays as it is, and what it names stays on disk.
    const before = await agent.effective();
    const touched = await cluster.configMap(agent.name, { labels: { a: 'b' } });
    await agent.reports(cluster, { assigned: sourceOf(touched), active: sourceOf(touched) });
    await agent.stop();
    agent.start();
    await agent.ready(3);
    assert.equal(await agent.effective(), before);
    assert.equal((await agent.store().load({ uid, resourceVersion })).at, 'intact');
  });

  test('a field that a flag sets has no effect, and the log says so', async () => {
    await using agent = await HostedAgent.on(cluster);
    agent.options.kubeletArgs = join(agent.dir, 'args');
    await writeFile(agent.options.kubeletArgs, '--kubeconfig=/nowhere\n--max-pods=30\n');
    const made = await give(agent, config({ maxPods: 50 }));
    await agent.reports(cluster, { assigned: sourceOf(made), active: sourceOf(made) });
    const said = await agent.says('config is accepted, but');
    assert.match(String(said.fields['message']), /maxPods has no effect: the kubelet is started with --max-pods/);
  });

  test('overlay keeps what the local config says, replace does not', async () => {
    const local = config({ maxPods: 110, podsPerCore: 7 });
    for (const [merge, podsPerCore] of [
      ['overlay', '7'],
      ['replace', undefined],
    ] as const) {
      await using agent = await HostedAgent.on(cluster, { local, merge });
      const made = await give(agent, config({ maxPods: 50 }));
      await agent.reports(cluster, { assigned: sourceOf(made), active: sourceOf(made) });
      assert.equal(await agent.effectiveField('podsPerCore'), podsPerCore, merge);
    }
  });

  test('the policy refuses with advice, an annotation allows, and a stricter policy does not heed it', async () => {
    await using agent = await HostedAgent.on(cluster, { local: config({ cgroupDriver: 'cgroupfs', maxPods: 110 }) });
    const kubelet = config({ cgroupDriver: 'systemd' });
    await give(agent, kubelet);
    await agent.reports(cluster, { error: statusErrors.validate });
    const [refused] = refusals(agent);
    assert.match(String(refused?.message), /cgroupDriver .* differs from the local config: set in the ConfigMap against set in the local config; take it out of the ConfigMap, or allow it by the annotation dkc\.dev\/allow: "cgroupDriver"/); // prettier-ignore
    const allowed = await cluster.configMap(agent.name, { annotations: { 'dkc.dev/allow': 'cgroupDriver' } });
    await agent.reports(cluster, { assigned: sourceOf(allowed), active: sourceOf(allowed) });
    assert.equal(await agent.effectiveField('cgroupDriver'), 'systemd');

    await using strict = await HostedAgent.on(cluster, { local: config({ cgroupDriver: 'cgroupfs' }) });
    await writeFile(join(strict.dir, 'policy.yaml'), 'apiVersion: dkc.dev/v1alpha1\nkind: FieldPolicy\noverrides: false\n');
    await give(strict, kubelet, { annotations: { 'dkc.dev/allow': 'cgroupDriver' } });
    await strict.reports(cluster, { error: statusErrors.validate });
    assert.match(String(refusals(strict)[0]?.message), /only the field policy of this node can allow it, and it ignores annotations/);
  });

  test('a policy file that cannot be read lets nothing new in, and leaves what runs', async () => {
    await using agent = await HostedAgent.on(cluster);
    const good = await give(agent, config({ maxPods: 50 }));
    await agent.reports(cluster, { assigned: sourceOf(good), active: sourceOf(good) });
    await writeFile(join(agent.dir, 'policy.yaml'), 'allow: everything\n');
    await give(agent, config({ maxPods: 51 }));
    await agent.reports(cluster, { assigned: sourceOf(good), active: sourceOf(good), error: statusErrors.validate });
    await agent.stop();
    agent.start();
    await agent.ready(3);
    assert.equal(await agent.effectiveField('maxPods'), '50');
    await writeFile(join(agent.dir, 'policy.yaml'), 'apiVersion: dkc.dev/v1alpha1\nkind: FieldPolicy\n');
    const mended = await give(agent, config({ maxPods: 52 }));
    await agent.reports(cluster, { assigned: sourceOf(mended), active: sourceOf(mended) });
  });
});
