import { readFileSync } from 'node:fs';
import { get as httpGet } from 'node:http';
import { get as httpsGet } from 'node:https';
import { kubeletStarts, kubeletStart } from '../../systemd/inside/kubelet.ts';
import { scenario } from '../../systemd/inside/scenario.ts';
import { property, settled, systemctl } from '../../systemd/inside/systemctl.ts';
import { eventually } from '../../../support/eventually.ts';

export interface PortsOptions {
  /** Units that start after the boot, in this order: each is up before the next one starts. */
  later?: readonly string[];
  /** A unit that stops in the end. */
  stop?: string;
}

export interface PortsResult {
  /** Whether kube-scheduler answers `/healthz` on its two ports. */
  scheduler: { insecure: string; secure: string };
  /** What answers on the agent's default port. */
  agent: string;
  /** As `dkc status` finds it. */
  notices: string[];
  kubeletStarts: number;
  schedulerRestarts: string;
  /** The agent's answer once `stop` is gone. */
  afterStop?: string;
  noticesAfter?: string[];
}

const ACTIVE = '/var/lib/dkc/store/meta/active.json';

const ask = (url: string): Promise<string | undefined> =>
  new Promise((resolve) => {
    const get = url.startsWith('https:') ? httpsGet : httpGet;
    get(url, { agent: false, rejectUnauthorized: false, timeout: 1000 }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      answer.on('end', () => resolve(text));
    }).on('error', () => resolve(undefined));
  });
const answer = (url: string): Promise<string> => eventually(url, () => ask(url));

const notices = (): string[] =>
  ((JSON.parse(readFileSync(ACTIVE, 'utf8')) as { notices?: { about: string; text: string }[] }).notices ?? []).map(
    ({ about, text }) => `${about}: ${text}`,
  );

/** A control-plane node after its boot: agent, kubelet and kube-scheduler, all with their own default ports. */
await scenario(async ({ later = [], stop }: PortsOptions): Promise<PortsResult> => {
  for (const unit of later) {
    systemctl('start', unit);
    if (unit === 'kube-scheduler.service') await answer('https://127.0.0.1:10259/healthz');
  }
  await kubeletStart(1);
  await settled();
  const result: PortsResult = {
    scheduler: { insecure: await answer('http://127.0.0.1:10251/healthz'), secure: await answer('https://127.0.0.1:10259/healthz') },
    agent: await answer('http://127.0.0.1:10460/healthz'),
    notices: notices(),
    kubeletStarts: kubeletStarts().length,
    schedulerRestarts: property('kube-scheduler.service', 'NRestarts'),
  };
  if (stop === undefined) return result;
  systemctl('stop', stop);
  const afterStop = await eventually('metrics of the agent', async () => {
    const text = await ask('http://127.0.0.1:10460/healthz');
    return text === 'ok' ? text : undefined;
  });
  const noticesAfter = await eventually('an end of the notice', () => Promise.resolve(notices().length === 0 ? notices() : undefined));
  return { ...result, afterStop, noticesAfter };
});
