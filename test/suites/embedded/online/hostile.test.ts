import assert from 'node:assert/strict';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { Bell, secondsSince } from './bell.ts';
import { Cluster } from './cluster.ts';
import { config, HostedAgent, sourceOf } from './hosted-agent.ts';
import { json, ScriptedServer, unchecked, type Answer, type Unchecked } from './scripted-server.ts';
import { statusErrors } from '../../../../agent/status/node-config-state.ts';
import { realClock } from '../../../../base/clock.ts';

const KIB = 1024;

describe('hostile configs on a real server', { concurrency: 3 }, () => {
  let cluster: Cluster;
  before(async () => {
    cluster = await Cluster.start();
  });
  after(() => cluster.stop());

  const bomb = ['a: &a [x, x, x, x, x, x, x, x, x]', ...'bcdefghijk'.split('').map((name, n) => `${name}: &${name} [${Array(9).fill(`*${'abcdefghij'[n]}`).join(', ')}]`)].join('\n'); // prettier-ignore
  const texts = [
    { why: 'aliases that multiply', kubelet: `${config()}${bomb}\n` },
    { why: 'a megabyte of opening brackets', kubelet: `${config()}x: ${'['.repeat(1_000_000)}` },
    { why: 'nesting 50,000 deep', kubelet: `${config()}x: ${'['.repeat(50_000)}${']'.repeat(50_000)}` },
    { why: 'JSON 50,000 deep', kubelet: `{"apiVersion":"kubelet.config.k8s.io/v1beta1","kind":"KubeletConfiguration","x":${'['.repeat(50_000)}${']'.repeat(50_000)}}` }, // prettier-ignore
    { why: 'an alias of itself', kubelet: `${config()}x: &x [*x]\n` },
    { why: 'a tag of a program', kubelet: `${config()}x: !!js/function "process.exit(1)"\n` },
    { why: 'control characters', kubelet: `${config()}x: "\u0000\u001b[2J"\u0000` },
    { why: 'half of a character', kubelet: `${config()}maxPods: \ud800\n` },
    { why: 'two documents', kubelet: `${config()}---\n${config()}` },
    { why: '900 KiB of one line', kubelet: `${config()}maxPods: ${'9'.repeat(900 * KIB)}` },
  ];
  test('texts that are made to break a reader neither break nor hold up the agent', async () => {
    await using agent = await HostedAgent.on(cluster);
    const good = await cluster.configMap(agent.name, { data: { kubelet: config({ maxPods: 50 }) } });
    await cluster.assign(agent.name, agent.name);
    agent.start();
    await agent.reports(cluster, { assigned: sourceOf(good), active: sourceOf(good) });
    for (const { why, kubelet } of texts) {
      const from = agent.said.length;
      const began = realClock.monotonic();
      const made = await cluster.configMap(agent.name, { data: { kubelet } });
      await agent.says('checkpoint saved', from);
      await agent.until(`a verdict on ${why}`, async () => {
        const config = cluster.node(agent.name)?.status?.config as { error?: string; assigned?: unknown } | undefined;
        const followed = JSON.stringify(config?.assigned).includes(`"${made.metadata.resourceVersion}"`);
        return followed || (config?.error ?? '') !== '' ? true : undefined;
      });
      assert.ok(realClock.monotonic() - began < 40_000, `${why} took ${Math.round(realClock.monotonic() - began)} ms`);
      assert.ok(agent.exitCodes.every((code) => code === 0), why); // prettier-ignore
      const longest = Math.max(...agent.said.slice(from).map((line) => JSON.stringify(line).length));
      assert.ok(longest < 8 * KIB, `${why}: a log line of ${longest} bytes`);
    }
    const mended = await cluster.configMap(agent.name, { data: { kubelet: config({ maxPods: 51 }) } });
    await agent.reports(cluster, { assigned: sourceOf(mended), active: sourceOf(mended) });
    assert.deepEqual(await agent.store().verify(), []);
  });

  test('of duplicate keys the last one wins, as with the kubelet, and the log says so', async () => {
    await using agent = await HostedAgent.on(cluster);
    const made = await cluster.configMap(agent.name, { data: { kubelet: `${config({ maxPods: 50 })}maxPods: 51\nnobodyKnows: 1\n` } });
    await cluster.assign(agent.name, agent.name);
    agent.start();
    await agent.reports(cluster, { assigned: sourceOf(made), active: sourceOf(made) });
    assert.equal(await agent.effectiveField('maxPods'), '51');
    const warned = agent.said.filter(({ text }) => text.startsWith('config is accepted, but')).map(({ fields }) => fields['field']);
    for (const field of ['maxPods', 'nobodyKnows']) assert.ok(warned.includes(field), `${field} in ${warned.join(', ')}`);
  });
});

/** A node on a server that checks nothing. */
async function onUnchecked(
  objects: Partial<Unchecked>,
): Promise<{ agent: HostedAgent; objects: Unchecked; server: ScriptedServer } & AsyncDisposable> {
  const bell = new Bell();
  const configSource = { configMap: { namespace: 'dkc-system', name: 'web', kubeletConfigKey: 'kubelet' } };
  const all: Unchecked = { configSource, configMap: undefined, onReport: () => bell.ring(), ...objects };
  const server = await ScriptedServer.start(unchecked(all));
  const agent = await HostedAgent.standing(bell, { kubeconfigText: server.kubeconfig });
  return {
    agent,
    objects: all,
    server,
    [Symbol.asyncDispose]: async () => {
      try {
        await agent[Symbol.asyncDispose]();
      } finally {
        await server[Symbol.asyncDispose]();
      }
    },
  };
}

const web = (data: unknown, metadata: Record<string, unknown> = {}) => ({ kind: 'ConfigMap', metadata: { name: 'web', namespace: 'dkc-system', uid: 'u-1', resourceVersion: '7', ...metadata }, data }); // prettier-ignore
const fine = config({ maxPods: 50 });

describe('a server that checks nothing', { concurrency: 6 }, () => {
  const hostile = [
    { why: 'a key that climbs', configMap: web({ kubelet: fine, '../../../outside': 'x' }) },
    { why: 'a key with a separator', configMap: web({ kubelet: fine, 'a/b': 'x' }) },
    { why: 'a key of our own', configMap: web({ kubelet: fine, '..manifest.json': '{}' }) },
    { why: 'an empty key', configMap: web({ kubelet: fine, '': 'x' }) },
    { why: 'an endless key', configMap: web({ kubelet: fine, ['k'.repeat(5000)]: 'x' }) },
    { why: 'a key with a line break', configMap: web({ kubelet: fine, 'a\nb': 'x' }) },
    { why: 'a prototype for a key', configMap: web(JSON.parse('{"kubelet": "x", "__proto__/x": "y"}')) },
    { why: 'a uid that climbs', configMap: web({ kubelet: fine }, { uid: '../../outside' }) },
    { why: 'a uid of two dots', configMap: web({ kubelet: fine }, { uid: '..' }) },
    { why: 'no uid', configMap: web({ kubelet: fine }, { uid: '' }) },
    { why: 'a resourceVersion that climbs', configMap: web({ kubelet: fine }, { resourceVersion: '../7' }) },
    { why: 'a resourceVersion of ours', configMap: web({ kubelet: fine }, { resourceVersion: '.dkc-tmp-1' }) },
    { why: 'a value that is no text', configMap: web({ kubelet: { maxPods: 50 } }) },
    { why: 'data that is a list', configMap: web([fine]) },
  ];
  for (const { why, configMap } of hostile) {
    test(`${why}: an internal failure, and nothing outside of its place`, async () => {
      await using on = await onUnchecked({ configMap });
      on.agent.start();
      await on.agent.until('the error', () => ((on.objects.config as { error?: string } | undefined)?.error === statusErrors.syncInternal ? true : undefined)); // prettier-ignore
      assert.deepEqual((await readdir(on.agent.dir)).toSorted(), ['dkc', 'kubeconfig', 'local', 'policy.yaml', 'run']);
      assert.deepEqual(await on.agent.store().list(), []);
      assert.equal(await on.agent.effectiveField('maxPods'), '110');
      assert.equal(on.agent.starts, 1);
    });
  }

  const sources = [
    { why: 'names nothing', configSource: {}, error: statusErrors.noSource },
    { why: 'is of a kind that comes later', configSource: { secret: { name: 'x' } }, error: statusErrors.noSource },
    { why: 'is a text', configSource: 'web', error: statusErrors.noSource },
    { why: 'has a name that climbs', configSource: { configMap: { namespace: 'dkc-system', name: '../x', kubeletConfigKey: 'kubelet' } }, error: statusErrors.syncInternal }, // prettier-ignore
    { why: 'has a key that climbs', configSource: { configMap: { namespace: 'dkc-system', name: 'web', kubeletConfigKey: '..' } }, error: statusErrors.syncInternal }, // prettier-ignore
    { why: 'has no name', configSource: { configMap: { namespace: 'dkc-system' } }, error: statusErrors.syncInternal },
    { why: 'is from another namespace', configSource: { configMap: { namespace: 'kube-system', name: 'web', kubeletConfigKey: 'kubelet' } }, error: statusErrors.download }, // prettier-ignore
    { why: 'names a ConfigMap that is not there', configSource: { configMap: { namespace: 'dkc-system', name: 'none', kubeletConfigKey: 'kubelet' } }, error: statusErrors.download }, // prettier-ignore
  ];
  for (const { why, configSource, error } of sources) {
    test(`a configSource that ${why}: ${error}`, async () => {
      await using on = await onUnchecked({ configSource });
      on.agent.start();
      await on.agent.until('the error', () => ((on.objects.config as { error?: string } | undefined)?.error === error ? true : undefined));
      assert.equal(on.agent.starts, 1);
    });
  }
});

const plain = (code: number, type: string, body: string | Uint8Array, headers: Record<string, string> = {}): Answer => (_request, response) => void response.writeHead(code, { 'content-type': type, ...headers }).end(body); // prettier-ignore
/** The same letter for as long as somebody reads. */
const endless =
  (letter: string): Answer =>
  (_request, response) => {
    const chunk = Buffer.alloc(256 * KIB, letter);
    const more = (): void => {
      if (!response.destroyed) response.write(chunk, more);
    };
    response.writeHead(200, { 'content-type': 'application/json' });
    more();
  };
const nodeList = JSON.stringify({
  kind: 'NodeList',
  metadata: { resourceVersion: '1' },
  items: [{ metadata: { name: 'node-1', resourceVersion: '1' } }],
});

describe('an address that is no API server', { concurrency: 20 }, () => {
  const answers: { why: string; answer: Answer; says: RegExp }[] = [
    { why: 'garbage', answer: plain(200, 'application/json', new Uint8Array([0xff, 0xfe, 0, 1, 2])), says: /not UTF-8 text/ },
    { why: 'HTML', answer: plain(200, 'text/html', '<html>Welcome</html>'), says: /not JSON; is this a Kubernetes API server/ },
    { why: 'half a JSON', answer: plain(200, 'application/json', nodeList.slice(0, 40)), says: /invalid JSON/ },
    { why: 'half of what was announced', answer: (_request, response) => { response.writeHead(200, { 'content-length': '1000' }).write('{'); setImmediate(() => response.destroy()); }, says: /Cannot GET/ }, // prettier-ignore
    {
      why: 'another kind',
      answer: plain(200, 'application/json', '{"kind":"PodList","metadata":{},"items":[]}'),
      says: /"PodList" and no NodeList/,
    },
    {
      why: 'a list of nonsense',
      answer: plain(200, 'application/json', '{"kind":"NodeList","metadata":{},"items":[1,null]}'),
      says: /a malformed NodeList/,
    },
    { why: 'nothing', answer: (_request, response) => void response.destroy(), says: /Cannot GET/ },
    { why: '401', answer: plain(401, 'text/plain', 'Unauthorized'), says: /401/ },
    { why: '403 in HTML', answer: plain(403, 'text/html', '<h1>Forbidden</h1>'), says: /403/ },
    { why: '429 with a wait', answer: plain(429, 'text/plain', 'busy', { 'retry-after': '1' }), says: /429/ },
    { why: '429 with a wait of a year', answer: plain(429, 'text/plain', 'busy', { 'retry-after': '31536000' }), says: /429/ },
    { why: '500', answer: plain(500, 'application/json', '{"kind":"Status","status":"Failure","message":"etcd is gone"}'), says: /500.*etcd is gone/ }, // prettier-ignore
    { why: 'a list, and then watches that end at once', answer: (request, response) => (request.url?.includes('watch=') ? void response.end() : plain(200, 'application/json', nodeList)(request, response)), says: /ended the watch at once/ }, // prettier-ignore
    { why: 'a list, and then watches of garbage', answer: (request, response) => plain(200, 'application/json', request.url?.includes('watch=') ? '{"type":"BOGUS"}\n' : nodeList)(request, response), says: /Cannot GET/ }, // prettier-ignore
    { why: 'an answer without an end', answer: endless('['), says: /more than 67108864 bytes/ },
    { why: 'a list, and then a watch without a line break', answer: (request, response) => (request.url?.includes('watch=') ? endless('x')(request, response) : plain(200, 'application/json', nodeList)(request, response)), says: /more than 33554432 bytes/ }, // prettier-ignore
    { why: 'a list, and then 410 for ever', answer: (request, response) => (request.url?.includes('watch=') ? json(response, { kind: 'Status', status: 'Failure', code: 410, reason: 'Expired' }, 410) : plain(200, 'application/json', nodeList)(request, response)), says: /410|^$/ }, // prettier-ignore
  ];
  for (const { why, answer, says } of answers) {
    test(`${why}: a clear line, no storm, the node as it was`, async () => {
      await using server = await ScriptedServer.start(answer);
      const bell = new Bell();
      await using agent = await HostedAgent.standing(bell, { kubeconfigText: server.kubeconfig });
      agent.start();
      await agent.ready();
      if (!says.test('')) {
        const { fields } = await agent.says('failed to watch Node, retrying');
        assert.match(String(fields['error']), says);
      }
      const [asked, lines] = [server.requests, agent.said.length];
      const seconds = await secondsSince(realClock.monotonic());
      // 410 is a list and a watch each time.
      assert.ok(server.requests - asked <= (why.includes('410') ? 10 : 6) * seconds, `${server.requests - asked} requests in ${seconds} s`);
      assert.ok(agent.said.length < lines + 20 * seconds, `${agent.said.length - lines} lines in ${seconds} s`);
      assert.doesNotMatch(JSON.stringify(agent.said), /secret-token/);
      assert.equal(agent.starts, 1);
      assert.equal(await agent.effective(), config({ maxPods: 110 }));
    });
  }

  test('a kubeconfig that is missing, then broken, then right', async () => {
    const cluster = await Cluster.start();
    try {
      const name = cluster.nextName();
      await cluster.addNode(name);
      await using agent = await HostedAgent.standing(cluster.bell, { name });
      agent.start();
      await agent.ready();
      await agent.until('the missing file in the log', () => agent.said.find(({ fields }) => String(fields['error']).includes('no such file'))); // prettier-ignore
      const file = join(agent.dir, 'kubeconfig');
      await writeFile(file, 'clusters: [');
      await agent.until('the broken file in the log', () =>
        agent.said.find(({ fields }) => String(fields['error']).includes('is not YAML')),
      );
      await writeFile(file, cluster.server.kubeconfig(name));
      await agent.reports(cluster, {});
      assert.equal(agent.starts, 1);
    } finally {
      await cluster.stop();
    }
  });

  test('a kubeconfig that points nowhere', async () => {
    await using agent = await HostedAgent.standing(new Bell(), { kubeconfigText: nowhere });
    agent.start();
    const { fields } = await agent.says('failed to watch Node, retrying');
    assert.match(String(fields['error']), /ECONNREFUSED|refused/);
    const calls = agent.calls.length;
    const seconds = await secondsSince(realClock.monotonic());
    assert.ok(agent.calls.length - calls <= 3 * seconds, `${agent.calls.length - calls} calls in ${seconds} s`);
  });
});

// Port 1 of this machine: nobody listens there.
const nowhere = JSON.stringify({ apiVersion: 'v1', kind: 'Config', clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:1' } }], users: [{ name: 'u', user: {} }], contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }], 'current-context': 'x' }); // prettier-ignore
