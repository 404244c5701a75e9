import { stringify } from 'yaml';
import { describeError } from '../base/errors.ts';
import { listen } from './http/listener.ts';
import { serve } from './http/serve.ts';
import { createLocalApi } from './local-api.ts';
import { selfSigned } from './certificate.ts';
import type { KubeObject } from '../kube/api/object.ts';
import type { Connection } from '../kube/client/connection.ts';
import type { Incoming, Listener, Outgoing } from './http/listener.ts';
import type { SocketServer } from './http/serve.ts';
import type { LocalApiHooks, LocalApiOptions } from './local-api.ts';

export interface ApiServerOptions extends LocalApiOptions {
  /** Loopback only; port 0 takes a free one. @default '127.0.0.1:0' */
  listen?: string;
  /** @default true */
  tls?: boolean;
}

export type ApiServerHooks = LocalApiHooks;

export interface ApiServer {
  /** `https://127.0.0.1:PORT`. */
  url: string;
  /** '' without TLS. */
  caPem: string;
  /** The admin's token. */
  token: string;
  /** Kubeconfig of the admin, or of the user of `token`; YAML. */
  kubeconfig(token?: string): string;
  /** For `ClientOptions.dial`: opens a connection without sockets. */
  dial: () => Promise<Connection>;
  /** Creates the object of a manifest, with apiVersion and kind; the default namespace is `default`. @throws StatusError */
  add: (manifest: Readonly<Record<string, unknown>>) => KubeObject;
  /** Closes every connection and drops the data. Idempotent. */
  stop(): Promise<void>;
  /** For tests and demos. */
  hooks: ApiServerHooks;
}

/** Starts an API server in this process. @throws ActionError if it cannot listen on the address */
export async function startApiServer(options: ApiServerOptions): Promise<ApiServer> {
  const local = createLocalApi(options);
  const keys = options.tls === false ? undefined : selfSigned(options.clock.now());
  let listener: Listener | undefined;
  let address = '';
  const stopping = new AbortController();
  const server: SocketServer = {
    ...local.server,
    api: { ...local.server.api, address: () => address },
    stopping: stopping.signal,
    resetPort: (port) => listener?.reset(port),
    silencePort: (port) => listener?.silence(port),
    isSilent: (port) => listener?.isSilent(port) === true,
  };
  const handle = (request: Incoming, response: Outgoing): void => {
    serve(server, request, response).catch((error: unknown) => {
      options.log.debug('failed to answer request', { error: describeError(error) });
      response.destroy();
    });
  };
  const open = async (at: string): Promise<void> => {
    listener = await listen(at, keys, handle);
    address = listener.address;
  };
  const close = async (): Promise<void> => {
    const closing = listener;
    listener = undefined;
    await closing?.close();
  };
  await open(options.listen ?? '127.0.0.1:0');
  const url = `${keys ? 'https' : 'http'}://${address}`;
  const caPem = keys?.certificatePem ?? '';
  const { token, tokens, dial, add, hooks } = local;
  return {
    url,
    caPem,
    token,
    kubeconfig: (of = token) => kubeconfigText({ url, caPem, token: of, user: tokens.find((one) => one.token === of)?.user ?? 'user' }),
    dial,
    add,
    async stop() {
      stopping.abort();
      local.stop();
      await close();
    },
    hooks: {
      ...hooks,
      dropConnections() {
        hooks.dropConnections();
        listener?.dropConnections();
      },
      async pause() {
        await hooks.pause();
        await close();
      },
      async resume() {
        await hooks.resume();
        if (listener === undefined) await open(address);
      },
    },
  };
}

/** A kubeconfig for one user of this server, as YAML. */
export function kubeconfigText(server: { url: string; caPem: string; token: string; user: string }): string {
  const authority = server.caPem === '' ? {} : { 'certificate-authority-data': Buffer.from(server.caPem).toString('base64') };
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'dkc', cluster: { server: server.url, ...authority } }],
    users: [{ name: server.user, user: { token: server.token } }],
    contexts: [{ name: 'dkc', context: { cluster: 'dkc', user: server.user, namespace: 'default' } }],
    'current-context': 'dkc',
  });
}
