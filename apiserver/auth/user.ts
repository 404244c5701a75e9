/** Who asks. */
export interface User {
  name: string;
  groups: readonly string[];
}

const NODE_USER = 'system:node:';

/** The node that a user is; undefined for everybody else. */
export function nodeOf(user: User): string | undefined {
  if (!user.name.startsWith(NODE_USER) || !user.groups.includes('system:nodes')) return undefined;
  return user.name.slice(NODE_USER.length);
}
