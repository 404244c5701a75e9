import { parseFaults, type Fault } from '../../apiserver/faults/fault.ts';
import { ActionError, describeError, errorCode } from '../../base/errors.ts';
import { fileWatcher } from '../../base/changing-files.ts';
import type { Args } from '../args/args.ts';
import { fine, type Context, type Command } from '../command.ts';
import { UsageError } from '../failure.ts';
import { definitions } from '../../deploy/manifests.ts';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import { startApiServer, type ApiServerOptions } from '../../apiserver/server.ts';
import { connect } from '../connect/connect.ts';
import { readManifests, seed } from './seed.ts';

export const apiserver: Command = {
  describe: `Runs an in-memory Kubernetes API server, for demos and tests, never for production. It listens on loopback only and loses all objects when it exits.

Without flags it behaves like 1.20.2 with dynamic kubelet configuration, where the Node object assigns the configuration. With --kubernetes-version=1.36.3 it behaves like a current API server, where a NodeConfig assigns it.

It always serves the kinds of dkc.dev.

Prints one line of JSON when it is ready: its url, the path of a kubeconfig, and its pid. Exits with 0 on SIGTERM and SIGINT.`,
  examples: [
    { run: 'dkc apiserver --write-kubeconfig=/tmp/kubeconfig', what: 'then: kubectl --kubeconfig /tmp/kubeconfig get nodes' },
    { run: 'dkc apiserver --listen=127.0.0.1:6443 --seed=manifests/', what: 'on a fixed port, with objects' },
    { run: 'dkc apiserver --kubernetes-version=1.36.3', what: 'like current servers: silently drops spec.configSource of a Node' },
  ],
  flags: [
    { name: 'listen', type: 'string', value: 'HOST:PORT', default: '127.0.0.1:0', text: 'loopback address; port 0 = any free port' },
    {
      name: 'write-kubeconfig',
      type: 'string',
      value: 'FILE',
      completes: 'file',
      text: "where to write the admin's kubeconfig",
      defaultText: 'a temporary file, removed on exit',
    },
    {
      name: 'dynamic-kubelet-config',
      type: 'boolean',
      text: 'whether Nodes keep spec.configSource and status.config',
      defaultText: 'true; false with a --kubernetes-version from 1.26 on',
    },
    {
      name: 'kubernetes-version',
      type: 'string',
      value: 'VERSION',
      text: 'Kubernetes release to imitate: /version, kinds, fields, defaults, messages',
      defaultText: '1.20.2; 1.36.3 with --dynamic-kubelet-config=false',
    },
    { name: 'seed', type: 'string', value: 'DIR', completes: 'dir', text: 'directory of manifests to create at start' },
    {
      name: 'faults',
      type: 'string',
      value: 'FILE',
      completes: 'file',
      text: 'faults to inject once the seed is created; reread when the file changes',
    },
  ],
  positionals: [],
  async run(context, args) {
    const faultFile = args.text('faults');
    const faults = faultFile ? { path: context.path(faultFile), first: await readFaults(context, context.path(faultFile)) } : undefined;
    const seeds = args.text('seed');
    const manifests = seeds ? await readManifests(context.disk, context.path(seeds)) : [];
    const server = await startApiServer({
      listen: args.text('listen') ?? '',
      ...releaseOf(args),
      clock: context.clock,
      random: context.random,
      log: context.log,
      definitions: definitions({ cel: false }), // this server does not evaluate CEL
    });
    const scratch = args.text('write-kubeconfig') ? undefined : await mkdtemp(join(tmpdir(), 'dkc-apiserver-'));
    const ended = new AbortController();
    // No faults while the manifests are created; the faults file may change during that time.
    let isPlanted = false;
    let wanted = faults?.first ?? [];
    const use = (next: Fault[]): void => {
      wanted = next;
      if (isPlanted) server.hooks.setFaults(next);
    };
    const following = faults && followFaults(context, faults.path, use, ended.signal);
    try {
      const kubeconfig = scratch ? join(scratch, 'kubeconfig') : context.path(args.text('write-kubeconfig') ?? '');
      await writePrivately(kubeconfig, server.kubeconfig());
      await plant(kubeconfig, manifests);
      isPlanted = true;
      use(wanted);
      context.stdout.write(`${JSON.stringify({ url: server.url, kubeconfig, pid: process.pid })}\n`);
      if (!context.signal.aborted) await once(context.signal, 'abort');
      return fine;
    } finally {
      ended.abort();
      await following;
      await server.stop();
      if (scratch) await rm(scratch, { recursive: true, force: true });
    }
  },
};

/** @throws UsageError for an invalid version */
function releaseOf(args: Args): Pick<ApiServerOptions, 'dynamicKubeletConfig' | 'version'> {
  const asked = args.text('kubernetes-version');
  const [, version] = /^v?(1\.\d{2}(\.\d{1,3})?)$/.exec(asked ?? '') ?? [];
  if (asked !== undefined && version === undefined)
    throw new UsageError(`--kubernetes-version=${asked} is not a Kubernetes release: write it as 1.36 or 1.36.3`);
  const keeps = args.value('dynamic-kubelet-config');
  return {
    ...(typeof keeps === 'boolean' ? { dynamicKubeletConfig: keeps } : {}),
    ...(version === undefined ? {} : { version: `v${version.split('.').length === 2 ? `${version}.0` : version}` }),
  };
}

/** The kubeconfig holds a token. */
async function writePrivately(path: string, text: string): Promise<void> {
  const { default: writeFileAtomic } = await import('write-file-atomic');
  try {
    await writeFileAtomic(path, text, { mode: 0o600 });
  } catch (cause) {
    throw new ActionError('write', path, { hint: 'its directory must exist and be writable', cause });
  }
}

async function plant(kubeconfig: string, manifests: Awaited<ReturnType<typeof readManifests>>): Promise<void> {
  if (manifests.length === 0) return;
  const client = await connect({ kubeconfig }, {});
  try {
    await seed(client, manifests);
  } finally {
    await client.close();
  }
}

/** The faults in a file; an empty file has none. @throws ActionError naming the file and the invalid entry */
async function readFaults({ disk }: Pick<Context, 'disk'>, path: string): Promise<Fault[]> {
  const unusable = (hint: string, cause: unknown) => new ActionError('use the faults in', path, { hint, cause });
  const bytes = await disk.read(path).catch((cause: unknown) => {
    throw unusable(errorCode(cause) === 'ENOENT' ? 'no such file; an empty file means no faults' : 'it cannot be read', cause);
  });
  try {
    const text = Buffer.from(bytes).toString('utf8');
    return parseFaults(text.trim() === '' ? [] : JSON.parse(text));
  } catch (cause) {
    throw unusable('it must be a JSON list of faults', cause);
  }
}

/** Reads the file again whenever it changes, until the signal aborts. An invalid file leaves the faults unchanged. */
async function followFaults(context: Context, path: string, use: (faults: Fault[]) => void, signal: AbortSignal): Promise<void> {
  const reread = async (): Promise<void> => {
    try {
      use(await readFaults(context, path));
    } catch (error) {
      context.stderr.write(`dkc: ${describeError(error)}; the faults are unchanged\n`);
    }
  };
  const watch = fileWatcher(context.disk, context.clock, context.log);
  await watch([path], () => void reread(), signal);
}
