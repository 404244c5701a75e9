import { basename } from 'node:path';
import { type Check, failed, ok, type Seen, skipped, someOf, the, type Verdict, warning } from '../check.ts';
import { parseEnvironment, parseEnvironmentFile } from '../../../agent/host/unit.ts';

/** The files of the kubelet's unit. */
export interface DropInFacts {
  /** Files that systemd has loaded: the unit, then its drop-ins in the order in which systemd applies them. */
  files: Seen<readonly { path: string; text: string }[]>;
  /** Environment files of the unit, such as `/var/lib/kubelet/kubeadm-flags.env`; without those that cannot be read. */
  environmentFiles: Seen<readonly { path: string; text: string }[]>;
  /** Whether systemd has loaded the unit. */
  isLoaded: Seen<boolean>;
  /** The drop-in of dkc's package for kubelet.service; undefined: not installed. */
  packaged: Seen<{ path: string; text: string } | undefined>;
  /** Paths of the drop-in on disk, loaded or not. */
  onDisk: readonly string[];
  kubeletUnit: string;
  effectiveConfig: string;
}

export const DROP_IN = '20-dkc.conf';
/** Environment file that the agent writes for a kubelet whose disk is read-only or full. */
const OWN_DROP_IN = '/run/dkc/kubelet.env';
const VARIABLE = 'KUBELET_CONFIG_ARGS';

export const dropInChecks: readonly Check<DropInFacts>[] = [
  { name: 'drop-in', wants: `the unit of the kubelet has the drop-in ${DROP_IN}`, decide: hasDropIn },
  { name: 'drop-in-order', wants: `no drop-in after ${DROP_IN} reverts its settings`, decide: dropInWins },
  { name: 'environment-files', wants: `no EnvironmentFile of the kubelet's unit sets another --config`, decide: environmentFiles },
];

function hasDropIn({ files, isLoaded, packaged, onDisk, kubeletUnit }: DropInFacts): Verdict {
  if (!the(isLoaded)) return skipped(`there is no ${kubeletUnit}`);
  const loaded = the(files).find(({ path }) => basename(path) === DROP_IN);
  if (loaded) {
    const own = 'seen' in packaged ? packaged.seen : undefined;
    if (own === undefined || own.path === loaded.path || own.text === loaded.text) return ok(loaded.path);
    return warning(
      `${loaded.path} overrides the drop-in of the package and differs from it`,
      `remove the copy in /etc, or compare: diff ${loaded.path} ${own.path}; systemctl daemon-reload`,
    );
  }
  const [there] = onDisk;
  if (there !== undefined)
    return failed(`${there} exists, but systemd has not loaded it`, `systemctl daemon-reload && systemctl restart ${kubeletUnit}`);
  const copy = `install -D -m 0644 /usr/lib/systemd/system/kubelet.service.d/${DROP_IN} /etc/systemd/system/${kubeletUnit}.d/${DROP_IN}`;
  return failed(
    `${kubeletUnit} has no drop-in ${DROP_IN}: the kubelet does not read the effective file`,
    kubeletUnit === 'kubelet.service'
      ? `install the package of dkc again, or ${copy}; systemctl daemon-reload`
      : `${copy} && systemctl daemon-reload`,
  );
}

function dropInWins(facts: DropInFacts): Verdict {
  const files = the(facts.files);
  const ours = files.findIndex(({ path }) => basename(path) === DROP_IN);
  if (ours < 0) return skipped(`${DROP_IN} is not loaded`);
  const against = files.slice(ours + 1).flatMap(({ path, text }) => overrides(text, facts).map((what) => ({ path, what })));
  if (against.length === 0) return ok(files.length === ours + 1 ? `${DROP_IN} is the last drop-in` : `the later drop-ins do not change its settings: ${files.slice(ours + 1).map(({ path }) => basename(path)).join(', ')}`); // prettier-ignore
  const paths = [...new Set(against.map(({ path }) => path))];
  return failed(
    someOf(against.map(({ path, what }) => `${path} ${what}`)),
    `remove those lines from ${paths.join(' and ')}, or give the file a name that sorts before ${DROP_IN}; systemctl daemon-reload && systemctl restart ${facts.kubeletUnit}`,
  );
}

/** Settings of our drop-in that a later drop-in overrides. */
function overrides(text: string, { effectiveConfig }: Pick<DropInFacts, 'effectiveConfig'>): string[] {
  return assignmentsOf(text).flatMap(({ section, key, value }) => {
    if (section !== 'Service') return [];
    if (key === 'Environment') {
      if (value === '') return ['empties Environment='];
      const set = parseEnvironment(value)[VARIABLE];
      return set === undefined || set === `--config=${effectiveConfig}` ? [] : [`sets ${VARIABLE}`];
    }
    if (key === 'ExecStart' && value !== '')
      return value.includes(VARIABLE) || value.includes(`--config=${effectiveConfig}`) ? [] : [`has an ExecStart= without $${VARIABLE}`];
    if (['ExecStartPre', 'ExecStopPost', 'EnvironmentFile'].includes(key) && value === '') return [`empties ${key}=`];
    return [];
  });
}

function environmentFiles({ environmentFiles, isLoaded, kubeletUnit }: DropInFacts): Verdict {
  if (!the(isLoaded)) return skipped(`there is no ${kubeletUnit}`);
  const all = the(environmentFiles).filter(({ path }) => path !== OWN_DROP_IN);
  const bad = all.flatMap(({ path, text }) =>
    Object.entries(parseEnvironmentFile(text))
      .filter(([name, value]) => name === VARIABLE || /(^|\s)--config[= ]/.test(value))
      .map(([name]) => ({ path, name })),
  );
  if (bad.length === 0) return ok(all.length === 0 ? 'the unit has no EnvironmentFile' : all.map(({ path }) => path).join(', '));
  return failed(
    someOf(bad.map(({ path, name }) => `${path} sets --config in ${name}, which wins over the drop-in`)),
    `remove that from ${[...new Set(bad.map(({ path }) => path))].join(' and ')}; systemctl restart ${kubeletUnit}`,
  );
}

/** One line of a unit file. */
interface Assignment {
  section: string;
  key: string;
  value: string;
}

/** Maximum number of lines examined in a unit file. */
const MAX_LINES = 10_000;

/** The assignments of a unit file or drop-in, in order. A backslash at the end of a line continues it. */
function assignmentsOf(text: string): Assignment[] {
  const found: Assignment[] = [];
  let section = '';
  let open = '';
  for (const line of text.split('\n', MAX_LINES)) {
    const trimmed = line.trim();
    if (/^[#;]/.test(trimmed)) continue; // a comment may also stand between two parts of a continued line
    if (trimmed.endsWith('\\')) {
      open += `${trimmed.slice(0, -1)} `;
      continue;
    }
    const whole = open + trimmed;
    open = '';
    section = /^\[(.+)\]$/.exec(whole)?.[1] ?? section;
    const [, key, value = ''] = /^([A-Za-z]+)\s*=\s*(.*)$/.exec(whole) ?? [];
    if (key !== undefined) found.push({ section, key, value });
  }
  return found;
}
