import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { Bell, secondsSince } from './bell.ts';
import { Cluster } from './cluster.ts';
import { config, HostedAgent } from './hosted-agent.ts';
import { json, ScriptedServer, type Answer } from './scripted-server.ts';
import { realClock } from '../../../../base/clock.ts';

const KIB = 1024;

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
    {
      why: 'another kind',
      answer: plain(200, 'application/json', '{"kind":"PodList","metadata":{},"items":[]}'),
      says: /"PodList" and no NodeList/,
    },
    { why: 'nothing', answer: (_request, response) => void response.destroy(), says: /Cannot GET/ },
    { why: 'an answer without an end', answer: endless('['), says: /more than 67108864 bytes/ },
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
});
