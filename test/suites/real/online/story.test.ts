import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KEY, NAMESPACE } from '../inside/names.ts';
import { onNode } from '../machine.ts';
import { onlineParts, onRealNodes } from '../suite.ts';
import type { Identity } from './inside/cluster.ts';
import type { OnlineStory, Step } from './scenarios/story.ts';

/** Names of ConfigMaps; `new` is the one that is assigned, as it is after the step. */
interface Expected {
  step: string;
  /** The ConfigMap that the step assigns or changes. */
  name?: string;
  active?: 'new' | 'old';
  assigned?: 'new' | 'old';
  error?: string;
  /** Starts of the kubelet that the step costs. */
  starts: number | readonly [number, number];
}

const invalid = 'failed to validate config, see Kubelet log for details';
const expected: readonly Expected[] = [
  { step: 'nothing is assigned', starts: 1 },
  { step: 'a good config', name: 'good', starts: 1 },
  { step: 'its content is edited', name: 'good', starts: 1 },
  { step: 'its label is touched', name: 'good', starts: 0 },
  { step: 'an invalid config', name: 'invalid', assigned: 'old', active: 'old', error: invalid, starts: 0 },
  { step: 'another one, after a restart of the API server', name: 'better', starts: 1 },
  {
    step: 'one that kills, with nobody to look before',
    name: 'killer',
    active: 'old',
    error: 'failed trial, see dkc-agent log for details',
    // The restart into it, two or more by systemd, the one back; more where the agent is held up.
    starts: [4, 12],
  },
  { step: 'its ConfigMap is mended', name: 'killer', starts: 1 },
  {
    step: 'its ConfigMap is deleted',
    name: 'killer',
    error: 'failed to sync: failed to download config, see Kubelet log for details',
    starts: 0,
  },
  { step: 'it is made again', name: 'killer', starts: 1 },
  { step: 'the assignment is cleared', starts: 1 },
];

/** Every warning that the story should leave in the agent's log, in any number. */
const explained = [
  /^the API server has no such Node|^failed to sync: internal failure.*Node node-0 does not exist/, // before the kubelet has made it
  /^config is refused .*rule=not-negative|^failed to validate config/,
  /^failed to watch (?:Node|ConfigMap), retrying .*(?:the connection ended|ECONNREFUSED)/, // the restart of the API server
  /^trial failed: this config is condemned on this node .*reason="kubelet exited 3 times"/,
  /^failed to sync: failed to download config.*detail="ConfigMap \S+ does not exist"/,
];

function source(name: string, { uid, resourceVersion }: Identity) {
  return { configMap: { kubeletConfigKey: KEY, name, namespace: NAMESPACE, resourceVersion, uid } };
}

await onRealNodes(
  'the agent beside a registered kubelet on a real API server',
  () => {
    test('lives through its whole story with the node identity', async (t) => {
      const story = await onNode<OnlineStory>('../online/scenarios/story', {
        registered: true,
        agent: { trialDuration: '2s', policy: 'none' },
      });
      assert.deepEqual(story.steps.map(({ step }) => step), expected.map(({ step }) => step)); // prettier-ignore
      let old: { configMap: object } | undefined;
      let before = 0;
      for (const [n, { name, assigned = 'new', active = 'new', error, starts }] of expected.entries()) {
        const { step, ms, text, identity, starts: now } = story.steps[n] as Step;
        t.diagnostic(`${step}: ${Math.round(ms)} ms`);
        const next = name !== undefined && identity ? source(name, identity) : undefined;
        // What kubectl prints is sorted by name, and says nothing of what is absent.
        const shown = {
          active: active === 'new' ? next : old,
          assigned: assigned === 'new' ? next : old,
          error,
          lastKnownGood: active === 'new' ? next : old,
        };
        assert.equal(text, JSON.stringify(shown), step);
        const [least, most] = typeof starts === 'number' ? [starts, starts] : starts;
        assert.ok(now - before >= least && now - before <= most, `${step}: ${now - before} starts of the kubelet`);
        before = now;
        if (active === 'new') old = next;
      }

      const forbidden = (node: string, name: string): string =>
        `Error from server (Forbidden): configmaps "${name}" is forbidden: User "system:node:${node}" cannot get resource "configmaps" in API group "" ` +
        `in the namespace "${NAMESPACE}": no relationship found between node '${node}' and this object`;
      assert.deepEqual(story.refused, {
        anothers: forbidden('node-1', 'good'),
        unassigned: forbidden('node-0', 'nobodys'),
        assigning:
          'Error from server (Forbidden): nodes "node-0" is forbidden: node "node-0" is not allowed to update configSource to a new non-nil configSource',
      });

      assert.equal(story.ready, 'True');
      const events = [...story.described.matchAll(/^ +\w+ +(KubeletConfig\w+) .* kubelet +(.*)$/gm)].map(
        ([, reason, message]) => `${reason}: ${message?.replace(/, UID.*?(?=: m|$)/, '').replace(/@\d+|; .*$/g, '')}`,
      );
      const longEnough = (event: string): string =>
        event.replace(/healthy for (\d+) s$/, (all, s) => (Number(s) < 2 ? all : 'healthy for 2 s or more'));
      const changed = (name: string): string =>
        `KubeletConfigChanged: Kubelet restarting to use /api/v1/namespaces/${NAMESPACE}/configmaps/${name}`;
      const trusted = (name: string): string => `KubeletConfigTrusted: Trusted ${NAMESPACE}/${name}:kubelet: healthy for 2 s or more`;
      assert.deepEqual(events.map(longEnough), [
        changed('good'),
        trusted('good'),
        changed('good'),
        trusted('good'),
        `KubeletConfigRefused: Refused /api/v1/namespaces/${NAMESPACE}/configmaps/invalid: maxPods must be 0 or more [not-negative]`,
        changed('better'),
        trusted('better'),
        changed('killer'),
        'KubeletConfigCondemned: exited 3 times',
        'KubeletConfigRolledBack: exited 3 times',
        changed('killer'),
        trusted('killer'),
        changed('killer'),
        trusted('killer'),
        'KubeletConfigChanged: Kubelet restarting to use local config',
      ]);

      const unexplained = (lines: readonly string[], by: readonly RegExp[]) => lines.filter((line) => !by.some((one) => one.test(line)));
      assert.deepEqual(unexplained(story.warnings.early, explained.slice(0, 1)), []);
      assert.deepEqual(unexplained(story.warnings.all, explained), []);
    });
  },
  onlineParts,
);
