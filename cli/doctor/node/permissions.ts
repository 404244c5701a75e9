import { failed, ok, someOf, the, warning, type Check, type Seen, type Verdict } from '../check.ts';

/** A file or directory that dkc trusts, links followed. */
export interface Trusted {
  path: string;
  uid: number;
  gid: number;
  /** Permission bits. */
  mode: number;
  /** Its content is for root alone. */
  isSecret: boolean;
  isDir: boolean;
}

export interface PermissionFacts {
  /** Files, their directories, and all directories above; those that are not there are left out. */
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

/** Whoever may write one of these is root on this node. */
function writable({ trusted }: PermissionFacts): Verdict {
  const all = the(trusted);
  const bad = all.filter((one) => one.uid !== 0 || isWritableByOthers(one));
  if (bad.length === 0) return ok(`only root can write them: ${all.length} ${all.length === 1 ? 'path' : 'paths'} checked`);
  return failed(
    someOf(bad.map((one) => (one.uid === 0 ? `${one.path} has mode ${octal(one.mode)}` : `${one.path} is owned by uid ${one.uid}`))),
    `chown root: ${names(bad)}; chmod go-w ${names(bad)}`,
  );
}

/** In a sticky directory nobody may rename or remove what belongs to somebody else. */
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
