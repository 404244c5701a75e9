import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { parse } from 'yaml';

interface Kubeconfig {
  clusters: { cluster: { server: string; 'certificate-authority-data': string } }[];
  users: { user: { token: string } }[];
}

/** An API server, asked without any of the project's own clients. */
export class Api {
  readonly #server: string;
  readonly #ca: Buffer;
  readonly #token: string;

  constructor(kubeconfig: string) {
    const { clusters, users } = parse(readFileSync(kubeconfig, 'utf8')) as Kubeconfig;
    const [cluster, user] = [clusters[0]?.cluster, users[0]?.user];
    if (!cluster || !user) throw new Error(`${kubeconfig} names no cluster or no user`);
    this.#server = cluster.server;
    this.#ca = Buffer.from(cluster['certificate-authority-data'], 'base64');
    this.#token = user.token;
  }

  /** @throws for every answer that is not 2xx */
  send<T = unknown>(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: object): Promise<T> {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const headers = { authorization: `Bearer ${this.#token}`, 'content-type': type };
    return new Promise((resolve, reject) => {
      const asked = request(new URL(path, this.#server), { method, ca: this.#ca, headers, agent: false }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        response.on('error', reject).on('end', () => {
          if ((response.statusCode ?? 0) < 300) resolve(JSON.parse(text) as T);
          else reject(new Error(`${method} ${path}: ${response.statusCode} ${text}`));
        });
      });
      asked.on('error', reject).end(body === undefined ? undefined : JSON.stringify(body));
    });
  }
}
