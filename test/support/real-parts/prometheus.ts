import { access, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { stringify } from 'yaml';
import type { KeyPair } from '../certificates.ts';
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
  lastError?: string;
  /** When it was evaluated last; the year 1 before that. */
  lastEvaluation: string;
}

/** A server's certificate, and one user with his password. */
export interface Guard extends KeyPair {
  ca: string;
  username: string;
  password: string;
  /** Of the password, by bcrypt. */
  hash: string;
}

const basic = ({ username, password }: Guard): string => `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;

async function writeGuard(home: string, { cert, key, username, hash }: Guard): Promise<string> {
  await writeFile(join(home, 'server.crt'), cert);
  await writeFile(join(home, 'server.key'), key);
  const web = { tls_server_config: { cert_file: 'server.crt', key_file: 'server.key' }, basic_auth_users: { [username]: hash } };
  await writeFile(join(home, 'web.yaml'), stringify(web));
  return join(home, 'web.yaml');
}

/** A real Prometheus, of Debian's package, which scrapes and evaluates a few times a second. */
export class Prometheus {
  readonly url: string;
  readonly #daemon: Daemon;
  readonly #home: string;

  /** @param jobs - targets `HOST:PORT` by job @param rules - what is a file of rules @param guard - who is let in */
  static async start(program: string, jobs: Readonly<Record<string, string>>, rules: object, guard?: Guard): Promise<Prometheus> {
    const home = await mkdtemp(join(tmpdir(), 'dkc-prometheus-'));
    await writeFile(join(home, 'rules.yaml'), stringify(rules));
    const scrapes = Object.entries(jobs).map(([job_name, target]) => ({ job_name, static_configs: [{ targets: [target] }] }));
    const global = { scrape_interval: '500ms', scrape_timeout: '500ms', evaluation_interval: '500ms' };
    await writeFile(join(home, 'prometheus.yaml'), stringify({ global, rule_files: ['rules.yaml'], scrape_configs: scrapes }));
    await mkdir(join(home, 'data'));
    const [port] = await freePorts(1);
    const url = `${guard === undefined ? 'http' : 'https'}://127.0.0.1:${port}`;
    const web = guard === undefined ? [] : [`--web.config.file=${await writeGuard(home, guard)}`];
    const args = [
      `--config.file=${home}/prometheus.yaml`,
      `--storage.tsdb.path=${home}/data`,
      `--web.listen-address=127.0.0.1:${port}`,
      ...web,
    ];
    const daemon = new Daemon({
      name: 'prometheus',
      program,
      args,
      log: join(home, 'log'),
      home,
      ready: { url: `${url}/-/ready`, ...(guard === undefined ? {} : { authorization: basic(guard) }) },
      ca: guard?.ca ?? '',
    });
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

/** Path of a program; undefined: it is not in PATH. */
export async function onPath(name: string): Promise<string | undefined> {
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    const path = join(folder, name);
    if (await access(path, 1).then(() => true, () => false)) return path; // prettier-ignore
  }
  return undefined;
}
