import { createServer } from 'node:http';
import { once } from 'node:events';
import { decode } from '../../agent/config/config.ts';
import { newestKubeletVersion } from '../../agent/config/config.ts';
import { problemText } from '../../agent/evaluate/local.ts';
import { ActionError } from '../../base/errors.ts';
import { fine, wrong, type Command } from '../command.ts';
import { UsageError } from '../failure.ts';
import type { JsonObject } from '../../agent/config/contract.ts';

/** The line of JSON that the fake kubelet prints when it is up. */
export interface KubeletUp {
  maxPods: number;
}

/**
 * Why a kubelet with this configuration would exit on the demo's node, or undefined. Validation and preflight do not detect this: only
 * the kubelet itself looks for the cgroup, when it starts.
 */
export function fatalHere(config: JsonObject): string | undefined {
  const enforced = config['enforceNodeAllocatable'];
  const cgroup = config['kubeReservedCgroup'];
  if (!Array.isArray(enforced) || !enforced.includes('kube-reserved') || typeof cgroup !== 'string') return undefined;
  return `Failed to start ContainerManager: failed to enforce Kube Reserved Cgroup Limits on "${cgroup}": cgroup does not exist`;
}

/** A fake kubelet for machines without one: reads its configuration, serves /healthz, and exits where a real kubelet would. */
export const kubelet: Command = {
  describe: 'Fake kubelet of the demo.',
  examples: [{ run: 'dkc __kubelet --config=kubelet.yaml --healthz=127.0.0.1:10248', what: '' }],
  flags: [
    { name: 'config', type: 'string', value: 'FILE', required: true, text: 'KubeletConfiguration' },
    { name: 'healthz', type: 'string', value: 'HOST:PORT', required: true, text: 'address to serve /healthz on' },
  ],
  positionals: [],
  async run(context, args) {
    const path = context.path(args.text('config') ?? '');
    const [, host, port] = /^(.+):(\d+)$/.exec(args.text('healthz') ?? '') ?? [];
    if (host === undefined) throw new UsageError('--healthz must be HOST:PORT');
    const decoded = decode(await context.disk.read(path), newestKubeletVersion);
    if (!decoded.ok) throw new ActionError('load the kubelet configuration in', path, { hint: problemText(decoded.errors) });
    const fatal = fatalHere(decoded.written);
    if (fatal !== undefined) return wrong(fatal);
    const server = createServer((request, response) => {
      response.statusCode = request.url === '/healthz' ? 200 : 404;
      response.end(response.statusCode === 200 ? 'ok' : 'not found');
    });
    server.listen(Number(port), host);
    await once(server, 'listening');
    try {
      const maxPods = decoded.written['maxPods'];
      const up: KubeletUp = { maxPods: typeof maxPods === 'number' ? maxPods : 110 };
      context.stdout.write(`${JSON.stringify(up)}\n`);
      if (!context.signal.aborted) await once(context.signal, 'abort');
      return fine;
    } finally {
      server.closeAllConnections();
      server.close();
    }
  },
};
