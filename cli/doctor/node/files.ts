import { dirname } from 'node:path';
import { type Check, failed, ok, type Seen, skipped, someOf, the, type Verdict, warning } from '../check.ts';
import { sourceText } from '../../../agent/checkpoint/source.ts';
import type { Candidate } from '../../../agent/boot/plan.ts';
import type { Finding } from '../../../agent/config/contract.ts';
import { problemText } from '../../../agent/evaluate/local.ts';
import type { Problem } from '../../../agent/store/store.ts';

export interface SettingsFacts {
  file: string;
  /** undefined: the file is usable or not set. */
  problem: Seen<string | undefined>;
  isThere: Seen<boolean>;
  /** Why the field policy is unusable; undefined: it is usable or not set. */
  policyProblem: Seen<string | undefined>;
  /** `none`: no policy. */
  policyFile: string;
  hasPolicy: Seen<boolean>;
}

export const settingsChecks: readonly Check<SettingsFacts>[] = [
  {
    name: 'settings',
    wants: 'the settings of the agent can be read, and the file of `kubeletArgs`',
    decide: ({ file, problem, isThere }) => {
      const why = the(problem);
      if (why !== undefined) return failed(why, `fix ${file}; dkc agent run --help lists its keys`);
      return ok(the(isThere) ? file : `${file} does not exist: all settings have their defaults`);
    },
  },
  {
    name: 'policy',
    wants: 'the field policy can be read',
    decide: ({ policyProblem, policyFile, hasPolicy }) => {
      const why = the(policyProblem);
      if (why === undefined)
        return ok(the(hasPolicy) || policyFile === 'none' ? policyFile : `${policyFile} does not exist: the default policy applies`);
      return failed(`${why}; new configurations are rejected until it is fixed`, `fix ${policyFile}`);
    },
  },
];

const MIB = 1024 * 1024;
/** Enough free space: a checkpoint has at most 1 MiB, and exists twice while it is replaced; the journal is smaller. */
const FULL_BYTES = 16 * MIB;
const LOW_BYTES = 100 * MIB;
const FULL_FILES = 100;
const LOW_FILES = 1000;

export interface DiskFacts {
  /** Directories that the agent writes to, with their free space. */
  free: readonly { path: string; is: Seen<{ bytes: number; files: number | null }> }[];
  /** Those of these directories that are on a read-only mount. */
  readOnly: Seen<readonly string[]>;
  /** The agent keeps the kubelet's configuration in memory, since a write to the disk failed. */
  isVolatile: Seen<boolean>;
  effectiveConfig: string;
}

export const diskChecks: readonly Check<DiskFacts>[] = [
  { name: 'disk-space', wants: 'the file systems that the agent writes to have free bytes and inodes', decide: hasSpace },
  { name: 'disk-writable', wants: 'the file systems of the store and of the effective file are writable', decide: isMountedWritable },
];

function hasSpace({ free }: DiskFacts): Verdict {
  const all = free.map(({ path, is }) => ({ path, ...the(is) }));
  const text = ({ path, bytes, files }: (typeof all)[number]): string =>
    `${path}: ${Math.floor(bytes / MIB)} MiB${files === null ? '' : ` and ${files} inodes`} free`;
  const below = (leastBytes: number, leastFiles: number) =>
    all.filter(({ bytes, files }) => bytes < leastBytes || (files ?? leastFiles) < leastFiles);
  const remedy = 'free some space: dkc checkpoints prune, journalctl --vacuum-size=200M, unused images';
  const full = below(FULL_BYTES, FULL_FILES);
  if (full.length > 0) return failed(full.map(text).join('; '), remedy);
  const low = below(LOW_BYTES, LOW_FILES);
  if (low.length > 0) return warning(low.map(text).join('; '), remedy);
  return ok(all.map(text).join('; '));
}

function isMountedWritable({ readOnly, isVolatile, effectiveConfig }: DiskFacts): Verdict {
  const stuck = the(readOnly);
  if (stuck.length > 0)
    return failed(
      `${stuck.join(' and ')} cannot be written: the mount is read-only`,
      `find the reason with dmesg; then run mount -o remount,rw on the file system of ${stuck[0]}`,
    );
  if (the(isVolatile))
    return warning(
      `the kubelet reads its configuration from /run, because ${dirname(effectiveConfig)} was not writable before`,
      'systemctl restart dkc-agent writes the file back to disk; journalctl -u dkc-agent shows the errors of the disk',
    );
  return ok('the directories are writable');
}

/** A file or directory that dkc trusts, with links resolved. */
export interface Trusted {
  path: string;
  uid: number;
  gid: number;
  /** Permission bits. */
  mode: number;
  /** Only root may read its content. */
  isSecret: boolean;
  isDir: boolean;
}

export interface PermissionFacts {
  /** Files and all parent directories; without those that do not exist. */
  trusted: Seen<readonly Trusted[]>;
}

const STICKY = 0o1000;
const OTHERS_WRITE = 0o002;
const GROUP_WRITE = 0o020;

export const permissionChecks: readonly Check<PermissionFacts>[] = [
  {
    name: 'writable-by-others',
    wants: 'only root can write the settings, the credentials, the store and the files that the kubelet reads',
    decide: writable,
  },
  { name: 'readable-by-others', wants: 'only root can read the credentials and the store', decide: readable },
];

/** A user who can write to one of these paths can become root on this node. */
function writable({ trusted }: PermissionFacts): Verdict {
  const all = the(trusted);
  const bad = all.filter((one) => one.uid !== 0 || isWritableByOthers(one));
  if (bad.length === 0) return ok(`only root can write them: ${all.length} ${all.length === 1 ? 'path' : 'paths'} checked`);
  return failed(
    someOf(bad.map((one) => (one.uid === 0 ? `${one.path} has mode ${octal(one.mode)}` : `${one.path} is owned by uid ${one.uid}`))),
    `chown root: ${names(bad)}; chmod go-w ${names(bad)}`,
  );
}

/** In a sticky directory users cannot rename or remove files of other users. */
function isWritableByOthers({ mode, gid, isDir }: Trusted): boolean {
  const writers = (mode & OTHERS_WRITE) !== 0 || ((mode & GROUP_WRITE) !== 0 && gid !== 0);
  return writers && !(isDir && (mode & STICKY) !== 0);
}

function readable({ trusted }: PermissionFacts): Verdict {
  const secret = the(trusted).filter(({ isSecret }) => isSecret);
  const open = secret.filter(({ mode, gid }) => (mode & 0o004) !== 0 || ((mode & 0o040) !== 0 && gid !== 0));
  if (open.length === 0) return ok(`only root can read them: ${secret.length} ${secret.length === 1 ? 'path' : 'paths'} checked`);
  return warning(someOf(open.map(({ path, mode }) => `${path} has mode ${octal(mode)}`)), `chmod go-rwx ${names(open)}`);
}

const octal = (mode: number): string => `0${(mode & 0o7777).toString(8)}`;
const names = (of: readonly Trusted[]): string => of.slice(0, 5).map(({ path }) => path).join(' '); // prettier-ignore

export interface StoreFacts {
  /** `absent`: there is no store; else its damaged files and its number of checkpoints. */
  store: Seen<{ at: 'absent' } | { at: 'there'; problems: readonly Problem[]; checkpoints: number }>;
  /** The last-known-good config as the next boot would load it. */
  lastKnownGood: Seen<Candidate>;
  /** The local config: missing, unreadable, rejected by a rule of this kubelet, or usable. */
  local: Seen<{ at: 'missing' } | { at: 'broken'; problem: string } | { at: 'refused'; findings: readonly Finding[] } | { at: 'usable' }>;
  localConfig: string;
  dir: string;
}

export const storeChecks: readonly Check<StoreFacts>[] = [
  { name: 'store', wants: 'checkpoints and records are intact', decide: sound },
  { name: 'last-known-good', wants: 'the last known good config is usable', decide: loadable },
  { name: 'local-config', wants: 'the local config exists and this kubelet accepts it', decide: local },
];

function sound({ store, dir }: StoreFacts): Verdict {
  const found = the(store);
  if (found.at === 'absent')
    return failed(
      `there is no store in ${dir}: the agent has never started on this node`,
      'systemctl start dkc-agent; journalctl -u dkc-agent -e',
    );
  const { problems, checkpoints } = found;
  if (problems.length === 0) return ok(`${checkpoints} ${checkpoints === 1 ? 'checkpoint' : 'checkpoints'}, all intact`);
  if (problems.every(({ isInaccessible }) => isInaccessible))
    return failed(
      someOf(problems.map(({ path, problem }) => `${path}: ${problem}`), 3), // prettier-ignore
      `chown -R root: ${dir}/store; chmod -R u+rwX ${dir}/store; systemctl restart dkc-agent`,
    );
  return failed(
    someOf(problems.map(({ path, problem }) => `${path}: ${problem}`), 3), // prettier-ignore
    'dkc checkpoints verify lists all of them; systemctl restart dkc-agent sets damaged records aside and downloads damaged checkpoints again',
  );
}

function loadable({ lastKnownGood, store }: StoreFacts): Verdict {
  const found = the(store);
  if (found.at === 'absent') return skipped('there is no store');
  if (found.problems.length > 0)
    return skipped(
      found.problems.every(({ isInaccessible }) => isInaccessible)
        ? 'the agent may not read or change all of the store'
        : 'the store is damaged',
    );
  const config = the(lastKnownGood);
  switch (config.at) {
    case 'none':
      return ok('no last known good config yet: the node falls back to its local config');
    case 'unknown':
      return failed(
        'the record of the last known good config is missing: the node falls back to its local config',
        'systemctl restart dkc-agent writes the record again',
      );
    case 'usable':
      return ok(sourceText(config.source));
    case 'unusable':
      return failed(
        `${sourceText(config.source)} cannot be used: ${config.problem}`,
        'assign a configuration that this kubelet accepts; dkc drill shows what the node would fall back to',
      );
    case 'condemned':
      return warning(
        `${sourceText(config.source)} is condemned: ${config.reason}`,
        'assign another configuration, or dkc retry last-known-good',
      );
  }
}

function local({ local, localConfig }: StoreFacts): Verdict {
  const found = the(local);
  switch (found.at) {
    case 'missing':
      return failed(
        `the local config ${localConfig} does not exist: the node has no last fallback`,
        'restore the file, or set localConfig in /etc/dkc/agent.yaml',
      );
    case 'broken':
      return failed(`${localConfig} cannot be read: ${found.problem}`, `fix the file; dkc validate ${localConfig} lists all problems`);
    case 'refused':
      return failed(
        `the kubelet would not start with ${localConfig}: ${problemText(found.findings.slice(0, 3))}`,
        `fix the file; dkc validate ${localConfig} lists all problems`,
      );
    case 'usable':
      return ok(localConfig);
  }
}
