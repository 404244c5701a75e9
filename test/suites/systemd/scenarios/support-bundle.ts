import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../../../support/eventually.ts';
import { Bundle, NAMESPACE, NODE } from '../inside/agent.ts';
import { kubeletConfig, kubeletStart, LOCAL } from '../inside/kubelet.ts';
import { run } from '../inside/program.ts';
import { scenario } from '../inside/scenario.ts';
import { dropIn, settled, systemctl } from '../inside/systemctl.ts';

export interface SupportBundleResult {
  code: number | null;
  /** Where a secret was found, by the secret's name. */
  leaks: string[];
  /** How many were planted. */
  planted: number;
  /** Secrets that are not where they were planted: then the test proves nothing. */
  unplanted: string[];
  mode: string;
  /** Below the bundle's folder, sorted. */
  files: string[];
  /** By file. */
  texts: Record<string, string>;
  index: { errors: { collector: string; why: string }[]; leftOut: { path: string; why: string }[] };
  stdout: string;
  stderr: string;
  left: string[];
}

/** Where each is planted is its name. None looks like a secret by itself but by its place, unless it is said here. */
const secrets = {
  agentToken: '',
  kubeconfigToken: 'plainwordtoken-of-kubelet',
  kubeconfigPassword: 'phrase-0ne phrase-tw0',
  kubeconfigKey: 'MIIEowIBAAKCAQEAsupersecretkeyline1',
  tokenFile: 'bare-value-of-token-file',
  execArgument: 'exec-argument-s3cr3t',
  bootstrapToken: 'b00tst.rap0secret0secret',
  settingsComment: 'settings-comment-s3cr3t',
  settingsUser: 'settings-user-s3cr3t',
  policyComment: 'policy-comment-s3cr3t',
  localHeader: 'local-header-s3cr3t',
  localComment: 'local-comment-s3cr3t',
  assignedHeader: 'assigned-header-s3cr3t',
  assignedUnknown: 'assigned-unknown-s3cr3t',
  assignedUrl: 'assigned-url-s3cr3t',
  otherKey: 'MIIEvQIBADANBgkqotherkeypemline',
  retryAnnotation: 'retry-annotation-s3cr3t',
  reason: 'rollback-reason-s3cr3t',
  unitVariable: 'unit-variable-s3cr3t',
  unitComment: 'unit-comment-s3cr3t',
  unitWord: 'unit-word-s3cr3t',
  flag: 'flag-value-s3cr3t',
  flagWord: 'flag-word-s3cr3t',
  logBearer: 'log-bearer-s3cr3t',
  logJwt: 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJzM2NyM3QifQ.c2lnbmF0dXJl',
  logUser: 'log-user-s3cr3t',
  logPem: 'MIIEpAIBAAKCAQEAlogpemlinesecret',
  logJson: 'log-json-s3cr3t',
  exits: 'exits-line-s3cr3t',
  linked: 'behind-a-link-s3cr3t',
};

const SAID = '/srv/said';
const OUT = '/root/out';

function plantFiles(): void {
  mkdirSync('/etc/kubernetes', { recursive: true });
  writeFileSync('/etc/kubernetes/token', secrets.tokenFile);
  const key = Buffer.from(`-----BEGIN RSA PRIVATE KEY-----\n${secrets.kubeconfigKey}\n-----END RSA PRIVATE KEY-----\n`).toString('base64');
  const certificate = Buffer.from('-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n').toString('base64');
  const kubeconfig = (user: object): string =>
    JSON.stringify({
      'current-context': 'a',
      contexts: [{ name: 'a', context: { cluster: 'a', user: 'the-node' } }],
      clusters: [{ name: 'a', cluster: { server: 'https://127.0.0.1:6443' } }],
      users: [{ name: 'the-node', user }],
    });
  const user = {
    token: secrets.kubeconfigToken,
    tokenFile: '/etc/kubernetes/token',
    username: 'u',
    password: secrets.kubeconfigPassword,
    'client-key-data': key,
    'client-certificate-data': certificate,
    exec: {
      apiVersion: 'client.authentication.k8s.io/v1',
      command: '/bin/false',
      args: [`--secret=${secrets.execArgument}`, secrets.execArgument],
    },
  };
  writeFileSync('/etc/kubernetes/kubelet.conf', kubeconfig(user), { mode: 0o600 });
  writeFileSync('/etc/kubernetes/bootstrap-kubelet.conf', kubeconfig({ token: secrets.bootstrapToken }), { mode: 0o600 });
  writeFileSync(
    LOCAL,
    `# ${secrets.localComment}\n${kubeletConfig({ staticPodURLHeader: { Authorization: [`Bearer ${secrets.localHeader}`] } })}`,
  );
  writeFileSync(
    '/etc/dkc/policy.yaml',
    `# ${secrets.policyComment}\napiVersion: dkc.dev/v1alpha1\nkind: FieldPolicy\nfields: {staticPodURLHeader: allow, staticPodURL: allow}\n`,
  );
  writeFileSync('/etc/default/kubelet', `KUBELET_EXTRA_ARGS=--bootstrap-token=${secrets.flag} --vendor-thing ${secrets.flagWord}\n`);
  const lines = [
    `sent Authorization: Bearer ${secrets.logBearer}`,
    `got ${secrets.logJwt} from it`,
    `GET https://user:${secrets.logUser}@registry.example.com/v2/?sig=${secrets.logUser}`,
    `-----BEGIN RSA PRIVATE KEY-----\n${secrets.logPem}\n-----END RSA PRIVATE KEY-----`,
    `{"level":"info","apiKey":"${secrets.logJson}"}`,
    `header was ${secrets.localHeader}, token ${secrets.kubeconfigToken}, file ${secrets.tokenFile}, basic ${Buffer.from(`u:${secrets.kubeconfigPassword}`).toString('base64')}`,
    `FLAG: --vendor="${secrets.execArgument}"`,
  ];
  writeFileSync(SAID, `${lines.join('\n')}\n`);
  dropIn(
    'kubelet.service',
    `# ${secrets.unitComment}\n[Service]\nEnvironment=PLAIN_NAME=${secrets.unitVariable}\nExecStartPost=/bin/cat ${SAID}\nExecStartPost=/bin/true ${secrets.unitWord}\n`,
  );
}

await scenario(async (): Promise<SupportBundleResult> => {
  const settings = `# ${secrets.settingsComment}\nkubeletConfigz: https://user:${secrets.settingsUser}@127.0.0.1:1/configz\n`;
  const agent = new Bundle(settings);
  await agent.prepare();
  plantFiles();
  secrets.agentToken = /token: "?([^"\s]+)/.exec(readFileSync('/etc/dkc/kubeconfig', 'utf8'))?.[1] ?? '';
  systemctl('start', 'kubelet.service');
  await kubeletStart(1);
  await settled();
  const config = kubeletConfig({
    maxPods: 77,
    staticPodURLHeader: { Authorization: [`Basic ${secrets.assignedHeader}`] },
    staticPodURL: `https://u:${secrets.assignedUrl}@example.com/${secrets.assignedUrl}/pods.yaml?token=${secrets.assignedUrl}`,
    maxPod: secrets.assignedUnknown,
  });
  const pem = `-----BEGIN PRIVATE KEY-----\n${secrets.otherKey}\n-----END PRIVATE KEY-----\n`;
  const metadata = { name: 'web', annotations: { 'dkc.dev/retry': `token=${secrets.retryAnnotation}` } };
  await agent.api.send('POST', `/api/v1/namespaces/${NAMESPACE}/configmaps`, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata,
    data: { kubelet: config, 'tls.key': pem },
  });
  await agent.api.send('PATCH', `/api/v1/nodes/${NODE}`, {
    spec: { configSource: { configMap: { namespace: NAMESPACE, name: 'web', kubeletConfigKey: 'kubelet' } } },
  });
  await kubeletStart(2);
  await settled();
  const dkc = (...args: string[]) =>
    spawnSync('/usr/lib/dkc/node', ['/usr/lib/dkc/dkc.js', ...args], { encoding: 'utf8', cwd: OUT, maxBuffer: 2 ** 26 });
  mkdirSync(OUT);
  const rollback = dkc('rollback', `--reason=password=${secrets.reason}`);
  if (rollback.status !== 0) throw new Error(rollback.stderr);
  await kubeletStart(3);
  await settled();
  appendFileSync('/run/dkc/kubelet-exits', `${secrets.exits}\n`);
  writeFileSync('/srv/linked.json', `{"a":"${secrets.linked}"}`);
  symlinkSync('/srv/linked.json', '/var/lib/dkc/store/meta/linked.json');
  await eventually('the journal has what the kubelet said', () =>
    run('journalctl', '-u', 'kubelet.service', '--no-pager').includes(secrets.logJson),
  );

  const made = dkc('support-bundle');
  const [archive = ''] = readdirSync(OUT);
  run('tar', '-xzf', join(OUT, archive), '-C', '/srv');
  const folder = join('/srv', archive.replace(/\.tar\.gz$/, ''));
  const files = run('find', folder, '-type', 'f').split('\n').map((path) => path.slice(folder.length + 1)).toSorted(); // prettier-ignore
  const texts = Object.fromEntries(files.map((file) => [file, readFileSync(join(folder, file), 'utf8')]));
  const places = { stdout: made.stdout, stderr: made.stderr, names: files.join('\n'), ...texts };
  const leaks = Object.entries(secrets).flatMap(([name, secret]) =>
    [secret, ...secret.split(' ').filter((word) => word.length > 6), Buffer.from(secret).toString('base64').slice(0, -4)].flatMap((form) =>
      Object.entries(places).flatMap(([place, text]) => (text.includes(form) ? [`${name} in ${place}`] : [])),
    ),
  );
  const everywhere = spawnSync(
    'sh',
    [
      '-c',
      `cat /etc/kubernetes/* /etc/dkc/* ${LOCAL} /etc/default/kubelet /run/dkc/kubelet-exits /srv/linked.json; find /var/lib/dkc -type f -exec cat {} +; journalctl --no-pager -u kubelet.service; systemctl cat kubelet.service`,
    ],
    { encoding: 'utf8', maxBuffer: 2 ** 26 },
  ).stdout;
  return {
    code: made.status,
    leaks,
    planted: Object.keys(secrets).length,
    unplanted: Object.entries(secrets).flatMap(([name, secret]) =>
      secret !== '' &&
      (everywhere.includes(secret) || everywhere.includes(Buffer.from(secret).toString('base64').slice(2, 20)) || name === 'kubeconfigKey')
        ? []
        : [name],
    ),
    mode: (statSync(join(OUT, archive)).mode & 0o777).toString(8),
    files,
    texts,
    index: JSON.parse(texts['index.json'] ?? '{}') as SupportBundleResult['index'],
    stdout: made.stdout,
    stderr: made.stderr,
    left: readdirSync(OUT),
  };
});
