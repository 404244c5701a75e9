import { once } from 'node:events';
import { access, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { stringify } from 'yaml';
import { Daemon } from './daemon.ts';
import { freePorts } from './free-ports.ts';

export interface Series {
  metric: Record<string, string>;
  /** Time in s, value as text. */
  value: [number, string];
}

export interface Rule {
  name: string;
  health: string;
  state: string;
}

/** A real Prometheus, of Debian's package, which scrapes and evaluates a few times a second. */
export class Prometheus {
  readonly url: string;
  readonly #daemon: Daemon;
  readonly #home: string;

  /** @param jobs - targets `HOST:PORT` by job @param rules - what is a file of rules */
  static async start(program: string, jobs: Readonly<Record<string, string>>, rules: object): Promise<Prometheus> {
    const home = await mkdtemp(join(tmpdir(), 'dkc-prometheus-'));
    await writeFile(join(home, 'rules.yaml'), stringify(rules));
    const scrapes = Object.entries(jobs).map(([job_name, target]) => ({ job_name, static_configs: [{ targets: [target] }] }));
    const global = { scrape_interval: '500ms', scrape_timeout: '500ms', evaluation_interval: '500ms' };
    await writeFile(join(home, 'prometheus.yaml'), stringify({ global, rule_files: ['rules.yaml'], scrape_configs: scrapes }));
    await mkdir(join(home, 'data'));
    const [port] = await freePorts(1);
    const url = `http://127.0.0.1:${port}`;
    const args = [`--config.file=${home}/prometheus.yaml`, `--storage.tsdb.path=${home}/data`, `--web.listen-address=127.0.0.1:${port}`];
    const ready = { url: `${url}/-/ready` };
    const daemon = new Daemon({ name: 'prometheus', program, args, log: join(home, 'log'), home, ready, ca: '' });
    await daemon.start();
    return new Prometheus(url, daemon, home);
  }

  private constructor(url: string, daemon: Daemon, home: string) {
    this.url = url;
    this.#daemon = daemon;
    this.#home = home;
  }

  /** @throws {Error} with what Prometheus says of a query that is wrong */
  async query(text: string): Promise<Series[]> {
    return (await this.#get<{ result: Series[] }>(`query?query=${encodeURIComponent(text)}`)).result;
  }

  async rules(): Promise<Rule[]> {
    return (await this.#get<{ groups: { rules: Rule[] }[] }>('rules')).groups.flatMap(({ rules }) => rules);
  }

  async #get<T>(path: string): Promise<T> {
    const answer = (await (await fetch(`${this.url}/api/v1/${path}`)).json()) as { status: string; error?: string; data: T };
    if (answer.status !== 'success') throw new Error(`Prometheus says of ${decodeURIComponent(path)}: ${answer.error}`);
    return answer.data;
  }

  async stop(): Promise<void> {
    await this.#daemon.stop(5_000);
    await rm(this.#home, { recursive: true, force: true });
  }
}

/** Serves metrics for a Prometheus to scrape. @returns `HOST:PORT` as its target */
export async function exporter(text: () => string | Promise<string>): Promise<{ target: string; close(): void }> {
  const server = createServer(
    (_, reply) => void Promise.resolve(text()).then((said) => reply.setHeader('content-type', 'text/plain; version=0.0.4').end(said)),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    target: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Path of a program; undefined: it is not in PATH. */
export async function onPath(name: string): Promise<string | undefined> {
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    const path = join(folder, name);
    if (await access(path, 1).then(() => true, () => false)) return path; // prettier-ignore
  }
  return undefined;
}
