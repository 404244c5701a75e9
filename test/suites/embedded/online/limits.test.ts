import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { AgentProcess, builtAgent } from './agent-process.ts';
import { Cluster } from './cluster.ts';
import { config, HostedAgent, sourceOf } from './hosted-agent.ts';
import { statusErrors } from '../../../../agent/status/node-config-state.ts';

const times = (many: number, one: (n: number) => string): string => Array.from({ length: many }, (_, n) => one(n)).join('');
const jsonHead = '{"apiVersion":"kubelet.config.k8s.io/v1beta1","kind":"KubeletConfiguration","failSwapOn":false';

const bomb = ['a: &a [x, x, x, x, x, x, x, x, x]', ...'bcdefghijk'.split('').map((name, n) => `${name}: &${name} [${Array(9).fill(`*${'abcdefghij'[n]}`).join(', ')}]`)].join('\n'); // prettier-ignore

interface Beyond {
  why: string;
  data: Record<string, string>;
  error: string;
  says: RegExp;
  /** Nothing of it is on disk. */
  unsaved?: true;
}
// prettier-ignore
const beyond: Beyond[] = [
  { why: '25,000 feature gates', data: { kubelet: `${jsonHead},"featureGates":{${times(25_000, (n) => `"G${n}":true,`)}"z":true}}` }, error: statusErrors.download, says: /more than 20000 values.*\[too-large\]/ },
  { why: 'nesting of 600 levels', data: { kubelet: `${config()}a: ${'['.repeat(600)}${']'.repeat(600)}\n` }, error: statusErrors.download, says: /more than 500 levels deep \[nesting\]/ },
  { why: '1,000,000 quotes', data: { kubelet: `${config()}a: ${'"'.repeat(1_000_000)}\n` }, error: statusErrors.download, says: /\[too-large\]/ },
  { why: 'aliases that multiply', data: { kubelet: `${config()}${bomb}\n` }, error: statusErrors.load, says: /\[alias\]/ },
  { why: 'control characters', data: { kubelet: `${config()}x: "\u0000\u001b[2J"\u0000` }, error: statusErrors.load, says: /\[/ },
  { why: 'half of a character', data: { kubelet: `${config()}maxPods: \ud800\n` }, error: statusErrors.load, says: /\[/ },
  { why: '20,000 keys', data: { kubelet: config({ maxPods: 60 }), ...Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`key-${n}`, ''])) }, error: statusErrors.download, says: /has 20001 keys.*\[too-many-keys\]/, unsaved: true },
  { why: '19,000 feature gates, which it does read', data: { kubelet: `${jsonHead},"featureGates":{${times(19_000, (n) => `"G${n}":true,`)}"z":true}}` }, error: statusErrors.validate, says: /featureGates\.G0/ },
];

describe('configs beyond the limits', { concurrency: 2 }, () => {
  let cluster: Cluster;
  let nodeFlags: string[];
  before(async () => {
    cluster = await Cluster.start();
    const unit = await readFile(join(import.meta.dirname, '../../../../systemd/dkc-agent.service'), 'utf8');
    nodeFlags = (/^ExecStart=\S+ (.*?) \S+dkc\.js/m.exec(unit)?.[1] ?? '').split(' ');
    assert.ok(nodeFlags.includes('--no-opt') && nodeFlags.some((flag) => flag.startsWith('--max-old-space-size=')), nodeFlags.join(' '));
  });
  after(() => cluster.stop());

  test('the agent, with the heap of its unit, refuses them for good, says so on the Node and in one event each, and lives on', async () => {
    await using home = await HostedAgent.on(cluster);
    const { name, dir, options, bell } = home;
    const good = await cluster.configMap(name, { data: { kubelet: config({ maxPods: 50 }) } });
    await cluster.assign(name, name);
    await using agent = await AgentProcess.start(builtAgent(), { dir, options, bell, nodeFlags });
    const reported = (what: string, error: string | undefined) =>
      cluster.bell.until(
        `the verdict on ${what}`,
        () => {
          const seen = cluster.node(name)?.status?.config as { error?: string; active?: unknown } | undefined;
          return seen?.active !== undefined && seen.error === error ? true : undefined;
        },
        () => `${JSON.stringify(cluster.node(name)?.status)}\n${agent.log.slice(-3000)}`,
      );
    await reported('the first', undefined);
    const began = agent.starts;
    for (const [at, { why, data, error, says, unsaved }] of beyond.entries()) {
      const made = await cluster.configMap(`${name}-${at}`, { data });
      await cluster.assign(name, `${name}-${at}`);
      await reported(why, error);
      const refusals = cluster.events(name).filter(({ message }) => String(message).includes(made.metadata.uid)); // prettier-ignore
      assert.deepEqual(refusals.map(({ reason }) => reason), ['KubeletConfigRefused'], why); // prettier-ignore
      assert.match(String(refusals[0]?.['message']), says, why);
      const { uid, resourceVersion } = made.metadata;
      assert.equal((await home.store().load({ uid, resourceVersion })).at, unsaved ? 'missing' : 'intact', why);
      assert.ok((await home.store().refused())?.findings.length, why);
      // Back to what is good, so that the next verdict is a new one.
      await cluster.assign(name, name);
      await reported('the good one again', undefined);
    }
    assert.deepEqual([agent.starts, agent.exitCodes.filter((code) => code !== 0)], [began, []], agent.log.slice(-3000));
    assert.deepEqual(await home.store().record('assigned'), { at: 'known', source: sourceOf(good).configMap });
    assert.equal(await home.effectiveField('maxPods'), '50');
    const longest = Math.max(...agent.log.split('\n').map((line) => line.length));
    assert.ok(longest < 8 * 1024, `a log line of ${longest} characters`);
  });
});
