import { createHash } from 'node:crypto';
import { appendFileSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { parseArgs } from 'node:util';
import { parse } from 'yaml';
import type { KubeletStart } from '../inside/kubelet.ts';

/**
 * What of a kubelet the hand-over can see: it reads `--config`, answers `/healthz`, dies with 1 where a kubelet of today does, and leaves
 * with 0 on SIGTERM. Each start is noted in a file before anything is judged, so that starts which fail count as well.
 */
const STARTS = '/var/log/kubelet-starts.jsonl';

/** No validation of anybody's sees that this value kills: only running it does. A real kubelet has such values too. */
const KILLER = { registryPullQPS: 4242 };

interface Config {
  apiVersion?: unknown;
  kind?: unknown;
  maxPods?: unknown;
  registryPullQPS?: unknown;
}

const startedAt = Date.now() - performance.now();

const { values } = parseArgs({
  strict: false,
  options: { config: { type: 'string' }, version: { type: 'boolean' }, help: { type: 'boolean' } },
});
if (values.version === true) {
  console.log('Kubernetes v1.34.2');
  process.exit(0);
}
if (values.help === true) {
  console.log(
    'Usage:\n  kubelet [flags]\n\nFlags:\n      --config string       The kubelet configuration file.\n      --kubeconfig string   Path to a kubeconfig file.',
  );
  process.exit(0);
}

function die(why: string): never {
  console.error(`F ${why}`);
  process.exit(1);
}

function problem(config: Config): string | undefined {
  if (config.apiVersion !== 'kubelet.config.k8s.io/v1beta1' || config.kind !== 'KubeletConfiguration')
    return 'no kind is registered for it';
  if (config.maxPods !== undefined && !Number.isInteger(config.maxPods)) return 'maxPods: cannot unmarshal';
  if (Number(config.maxPods ?? 0) < 0) return 'invalid configuration: maxPods must not be negative';
  return undefined;
}

process.on('SIGTERM', () => process.exit(0));

if (typeof values.config !== 'string') die('no --config');
const bytes = readFileSync(values.config);
const config = ((): Config => {
  try {
    return (parse(bytes.toString()) ?? {}) as Config;
  } catch {
    return die('failed to load the kubelet config file');
  }
})();
const start: KubeletStart = {
  at: startedAt,
  pid: process.pid,
  config: values.config,
  sha256: createHash('sha256').update(bytes).digest('hex'),
  maxPods: config.maxPods ?? null,
};
appendFileSync(STARTS, `${JSON.stringify(start)}\n`);

const found = problem(config);
if (found !== undefined) die(found);

createServer((request, response) => {
  response.writeHead(request.url === '/healthz' ? 200 : 404).end('ok');
}).listen(10_248, '127.0.0.1', () => {
  if (config.registryPullQPS === KILLER.registryPullQPS) setTimeout(() => die('what no validation sees'), 25);
});
