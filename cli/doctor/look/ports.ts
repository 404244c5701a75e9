import { seen } from '../examine.ts';
import { the, Unseen } from '../check.ts';
import type { Listening, PortFacts } from '../node/ports.ts';
import type { NodeLook } from './node-look.ts';
import { unitProperties } from './units.ts';
import { serversOfKubelet } from '../../../agent/config/config.ts';
import { listeningSockets } from '../../../agent/host/facts.ts';

/** Open files of a process that are looked at. */
const MAX_FILES = 20_000;

export async function lookAtPorts(look: NodeLook): Promise<PortFacts> {
  const { context, options, host } = look;
  const unit = await look.kubeletUnit();
  const effective = await look.effective();
  return {
    kubelet: await seen(async () => {
      const { defaulted, kubelet } = the(effective);
      return serversOfKubelet(defaulted, kubelet);
    }),
    listening: await seen(() => listeningFor(look, the(unit)['MainPID'] ?? '')),
    healthz: options.kubeletHealthz,
    health: await seen(() => host.probe(options.kubeletHealthz, context.signal)),
    metrics: options.metricsBindAddress,
    listeningOfAgent: await seen(async () => listeningFor(look, (await unitProperties(context, 'dkc-agent.service'))['MainPID'] ?? '')),
  };
}

/** All that listens here, and which of it is a socket of this process; '0': no process. @throws Unseen for who may not look into it */
async function listeningFor(look: NodeLook, pid: string): Promise<Listening[]> {
  const { disk } = look.context;
  const tables = await Promise.all(['/proc/net/tcp', '/proc/net/tcp6'].map((path) => disk.read(path).catch(() => new Uint8Array())));
  const own = /^[1-9]\d*$/.test(pid) ? await socketsOf(look, pid) : new Set<string>();
  return tables
    .flatMap((table) => listeningSockets(new TextDecoder().decode(table)))
    .map(({ inode, ...rest }) => ({ ...rest, isOwn: own.has(inode) }));
}

async function socketsOf({ context, host }: NodeLook, pid: string): Promise<Set<string>> {
  const names = await context.disk.list(`/proc/${pid}/fd`);
  if (names.length > MAX_FILES) throw new Unseen(`process ${pid} has more than ${MAX_FILES} open files`);
  const found = new Set<string>();
  for (const name of names) {
    const inode = /^socket:\[(\d+)\]$/.exec(await host.link(`/proc/${pid}/fd/${name}`).catch(() => ''))?.[1];
    if (inode !== undefined) found.add(inode);
  }
  return found;
}
