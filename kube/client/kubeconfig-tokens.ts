import { chmod, chown, open, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import { delimiter } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Document, isMap, isScalar, isSeq, parseDocument } from 'yaml';
import { ActionError, errorCode } from '../../base/errors.ts';

/** A provider's tokens, and the refresh token that was used for them. */
export interface NewTokens {
  idToken: string;
  refreshToken: string;
  /** The refresh token that was used up. */
  used: string;
}

/** kubectl holds the lock for a moment. */
const LOCK_TRIES = 20;
const LOCK_WAIT_MS = 50;

/**
 * Writes refreshed OIDC tokens into the user's kubeconfig, as kubectl does: where a provider accepts each refresh token once, the one in the file is no
 * longer valid. Everything else in the file stays as it is, comments and unknown fields too; the file is replaced as a whole, under kubectl's lock.
 * @param kubeconfig - a path; several as in `$KUBECONFIG`, of which the first that has the user is written
 * @returns false where the file has another refresh token by now: another process has logged in or refreshed, and its tokens stay
 * @throws {ActionError} when the file cannot be written; its message has no token
 */
export async function persistTokens(kubeconfig: string, user: string, tokens: NewTokens): Promise<boolean> {
  for (const path of new Set([kubeconfig, ...kubeconfig.split(delimiter)])) {
    const written = await persistIn(path, user, tokens).catch((cause: unknown) => {
      if (errorCode(cause) === 'ENOENT') return undefined;
      throw new ActionError('write the refreshed OIDC tokens into', path, { hint: remedyFor(errorCode(cause), path), cause });
    });
    if (written !== undefined) return written;
  }
  return false;
}

function remedyFor(code: string | undefined, path: string): string {
  if (code === 'EEXIST') return `another process holds ${path}.lock; if no process does, remove that file`;
  return code === undefined ? 'it cannot be read as YAML; log in again' : 'make the file and its directory writable';
}

/** @returns undefined where the file does not have the user */
async function persistIn(path: string, user: string, tokens: NewTokens): Promise<boolean | undefined> {
  const file = await realpath(path);
  const yaml = await import('yaml');
  if (withTokens(yaml, await readFile(file, 'utf8'), user, tokens) === undefined) return undefined;
  const lock = `${file}.lock`;
  await takeLock(lock);
  try {
    const text = withTokens(yaml, await readFile(file, 'utf8'), user, tokens);
    if (typeof text === 'string') await replace(file, text);
    return typeof text === 'string';
  } finally {
    await rm(lock, { force: true });
  }
}

async function takeLock(lock: string): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await (await open(lock, 'wx', 0o600)).close();
      return;
    } catch (error) {
      if (errorCode(error) !== 'EEXIST' || tries === LOCK_TRIES) throw error;
      await delay(LOCK_WAIT_MS);
    }
  }
}

/** Replaces the file atomically: a crash leaves the old text or the whole new one. */
async function replace(file: string, text: string): Promise<void> {
  const { mode, uid, gid } = await stat(file);
  const next = `${file}.dkc-${process.pid}`;
  try {
    const handle = await open(next, 'wx', 0o600);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    // Keep the owner where permitted: only root may set it.
    await chown(next, uid, gid).catch(() => {});
    await chmod(next, mode & 0o777);
    await rename(next, file);
  } catch (error) {
    await rm(next, { force: true });
    throw error;
  }
}

/** The library, loaded when it is needed. */
interface Yaml {
  isMap: typeof isMap;
  isScalar: typeof isScalar;
  isSeq: typeof isSeq;
  parseDocument: typeof parseDocument;
}

/** @returns the new text; false where it has another refresh token; undefined where it has no such user */
function withTokens(yaml: Yaml, text: string, user: string, { idToken, refreshToken, used }: NewTokens): string | false | undefined {
  const document = yaml.parseDocument(text, { prettyErrors: false, logLevel: 'silent' });
  if (document.errors.length > 0) throw new Error('it cannot be read as YAML');
  const config = configOf(yaml, document, user);
  if (config === undefined) return undefined;
  if (document.getIn([...config, 'refresh-token']) !== used) return false;
  const values = { 'id-token': idToken, 'refresh-token': refreshToken };
  const places = Object.entries(values).flatMap(([field, value]) => {
    const node = document.getIn([...config, field], true);
    return yaml.isScalar(node) && node.range ? [{ from: node.range[0], to: node.range[1], value }] : [];
  });
  if (places.length === 2) return spliced(text, places);
  // One of the fields is missing: the library inserts it, and may reformat numbers and spaces elsewhere.
  for (const [field, value] of Object.entries(values)) document.setIn([...config, field], value);
  return document.toString({ lineWidth: 0, indentSeq: false });
}

/** The text with two values replaced, and every other byte unchanged. A JSON string is also a YAML string. */
function spliced(text: string, places: readonly { from: number; to: number; value: string }[]): string {
  let result = text;
  for (const { from, to, value } of places.toSorted((a, b) => b.from - a.from))
    result = `${result.slice(0, from)}${JSON.stringify(value)}${result.slice(to)}`;
  return result;
}

function configOf({ isMap, isSeq }: Yaml, document: Document, user: string): (string | number)[] | undefined {
  const users = document.get('users');
  if (!isSeq(users)) return undefined;
  const at = users.items.findIndex((item) => isMap(item) && item.get('name') === user);
  const config = ['users', at, 'user', 'auth-provider', 'config'];
  return at >= 0 && isMap(document.getIn(config)) ? config : undefined;
}
