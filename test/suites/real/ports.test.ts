import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { realParts } from '../../support/real-parts/real-kubelet.ts';
import { onMachine } from '../systemd/machine.ts';
import type { PortsOptions, PortsResult } from './scenarios/ports.ts';
import { onRealNodes } from './suite.ts';

const SCHEDULER = 'kube-scheduler.service';
const units = {
  // As kubeadm's static pod: on loopback, started by a kubelet. Its API server is not there yet, as after the reboot of a lone control-plane node.
  [`/etc/systemd/system/${SCHEDULER}`]: `[Unit]
After=kubelet.service
[Service]
ExecStart=/usr/lib/kubernetes/kube-scheduler --kubeconfig=/etc/kubernetes/scheduler.conf --bind-address=127.0.0.1 --leader-elect=true
Restart=always
RestartSec=1
[Install]
WantedBy=multi-user.target
`,
  '/etc/systemd/system/squatter.service': `[Unit]
Before=dkc-agent.service
[Service]
Type=notify
NotifyAccess=all
ExecStart=/usr/lib/dkc/node -e "require('net').createServer((s) => s.end('HTTP/1.1 200 OK\\\\r\\\\nConnection: close\\\\r\\\\n\\\\r\\\\nanother')).listen(10460, '127.0.0.1', () => require('child_process').execFileSync('systemd-notify', ['READY=1']))"
[Install]
WantedBy=multi-user.target
`,
  '/etc/kubernetes/scheduler.conf': `apiVersion: v1
kind: Config
clusters: [{name: a, cluster: {server: "http://127.0.0.1:1"}}]
contexts: [{name: a, context: {cluster: a, user: a}}]
users: [{name: a, user: {}}]
current-context: a
`,
};

const AGENT = ['dkc-agent.service', 'kubelet.service'];
const well: PortsResult = {
  scheduler: { insecure: 'ok', secure: 'ok' },
  agent: 'ok',
  notices: [],
  kubeletStarts: 1,
  schedulerRestarts: '0',
};
const reserved =
  'metrics: Cannot serve metrics on 127.0.0.1:10259: its port belongs to kube-scheduler; choose another --metrics-bind-address';

await onRealNodes(
  'a control-plane node',
  () => {
    async function machine(
      t: { after(done: () => void): void },
      boots: readonly { enable?: readonly string[]; options?: PortsOptions }[],
      files: Record<string, string> = {},
    ): Promise<PortsResult[]> {
      const { dir } = await realParts(['kube-scheduler']);
      const state = mkdtempSync(join(tmpdir(), 'dkc-ports-'));
      t.after(() => rmSync(state, { recursive: true }));
      mkdirSync(join(state, 'lib'));
      const keep = { [join(state, 'lib')]: '/var/lib/dkc', [join(dir, 'kube-scheduler')]: '/usr/lib/kubernetes/kube-scheduler:ro' };
      const seen: PortsResult[] = [];
      for (const { enable = [], options = {} } of boots)
        seen.push(
          await onMachine<PortsResult>('../../real/scenarios/ports', {
            agent: 'bundle',
            enable,
            keep,
            options,
            files: { ...units, ...files },
          }),
        );
      return seen;
    }

    test('comes up after each reboot with agent and kube-scheduler on their default ports', async (t) => {
      const boot = { enable: [...AGENT, SCHEDULER] };
      assert.deepEqual(await machine(t, [boot, boot]), [well, well]);
    });

    test('takes the agent after kube-scheduler, and kube-scheduler after the agent', async (t) => {
      const orders = [
        [SCHEDULER, ...AGENT],
        [...AGENT, SCHEDULER],
      ];
      assert.deepEqual(await machine(t, orders.map((later) => ({ options: { later } }))), [well, well]); // prettier-ignore
    });

    test('has its kubelet also where the port of the metrics is taken, says so, and serves them once it is free', async (t) => {
      const [seen] = await machine(t, [{ enable: ['squatter.service', ...AGENT, SCHEDULER], options: { stop: 'squatter.service' } }]);
      const notice = 'metrics: metrics are not served on 127.0.0.1:10460: another program listens there; the agent keeps trying';
      assert.deepEqual(seen, { ...well, agent: 'another', notices: [notice], afterStop: 'ok', noticesAfter: [] });
    });

    test('has its kube-scheduler also where the agent is set to the port of it', async (t) => {
      const files = {
        '/etc/dkc/agent.yaml': 'metricsBindAddress: 127.0.0.1:10259\n',
        '/etc/systemd/system/squatter.service': units['/etc/systemd/system/squatter.service'],
      };
      const [seen] = await machine(t, [{ enable: ['squatter.service', ...AGENT, SCHEDULER] }], files);
      assert.deepEqual(seen, { ...well, agent: 'another', notices: [`${reserved}, or an empty one to switch it off`] });
    });
  },
  ['kube-scheduler'],
);
