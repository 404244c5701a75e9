import { createHash } from 'node:crypto';
import { unauthorized } from '../errors.ts';

/** The user of a request. */
export interface User {
  name: string;
  groups: readonly string[];
}

const NODE_USER = 'system:node:';

/** Name of the node whose user this is; undefined for other users. */
export function nodeOf(user: User): string | undefined {
  if (!user.name.startsWith(NODE_USER) || !user.groups.includes('system:nodes')) return undefined;
  return user.name.slice(NODE_USER.length);
}

/** A bearer token and its user. */
export interface Token {
  token: string;
  user: string;
  groups: readonly string[];
}

/** Finds users by bearer token. Compares digests, so that response times reveal nothing about a token. */
export class Authenticator {
  readonly #users = new Map<string, User>();

  constructor(tokens: readonly Token[]) {
    for (const { token, user, groups } of tokens) {
      this.#users.set(digest(token), { name: user, groups: [...groups, ...accountGroups(user), 'system:authenticated'] });
    }
  }

  /** @param authorization - value of the header @throws StatusError 401 for anything but a known token */
  user(authorization: string): User {
    const [, token] = /^bearer +(\S+)$/i.exec(authorization.trim()) ?? [];
    const user = token === undefined ? undefined : this.#users.get(digest(token));
    if (user === undefined) throw unauthorized();
    return user;
  }
}

/** Groups of a service account: all service accounts, and those of its namespace. */
function accountGroups(user: string): string[] {
  const [, namespace] = /^system:serviceaccount:([^:]+):[^:]+$/.exec(user) ?? [];
  return namespace === undefined ? [] : ['system:serviceaccounts', `system:serviceaccounts:${namespace}`];
}

function digest(token: string): string {
  return createHash('sha256').update(token).digest('base64');
}
