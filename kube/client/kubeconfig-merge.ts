import { dirname, isAbsolute, resolve } from 'node:path';
import { isJsonObject, ownField } from '../api/json.ts';
import type { JsonObject } from '../api/json.ts';

/** Fields that hold a path, by the list and the entry they stand in. They start at the directory of the file that names them. */
const PATHS: readonly { list: string; entry: string; fields: readonly string[] }[] = [
  { list: 'clusters', entry: 'cluster', fields: ['certificate-authority'] },
  { list: 'users', entry: 'user', fields: ['client-certificate', 'client-key', 'tokenFile'] },
  { list: 'contexts', entry: 'context', fields: [] },
];

/**
 * Several kubeconfigs as one, as kubectl reads `$KUBECONFIG`: the first file that has a cluster, user or context of a name gives all of it, and the
 * first that sets `current-context` gives that. Paths become absolute.
 * @param files - in their order; documents that are no mapping count as empty
 */
export function mergeKubeconfigs(files: readonly { path: string; document: unknown }[]): JsonObject {
  const documents = files.flatMap(({ path, document }) => (isJsonObject(document) ? [{ path, document }] : []));
  const current = documents
    .map(({ document }) => ownField(document, 'current-context'))
    .find((name) => typeof name === 'string' && name !== '');
  const merged: JsonObject = { apiVersion: 'v1', kind: 'Config', ...(current === undefined ? {} : { 'current-context': current }) };
  for (const { list, entry, fields } of PATHS) {
    const known = new Map<unknown, JsonObject>();
    for (const { path, document } of documents) {
      const items = ownField(document, list);
      for (const item of Array.isArray(items) ? items : []) {
        if (!isJsonObject(item) || known.has(item['name'])) continue;
        const body = item[entry];
        known.set(item['name'], isJsonObject(body) ? { ...item, [entry]: withAbsolute(body, fields, dirname(path)) } : item);
      }
    }
    merged[list] = [...known.values()];
  }
  return merged;
}

function withAbsolute(body: JsonObject, fields: readonly string[], directory: string): JsonObject {
  const absolute = fields.flatMap((field): [string, string][] => {
    const value = ownField(body, field);
    return typeof value === 'string' && value !== '' ? [[field, resolve(directory, value)]] : [];
  });
  const { exec } = body;
  const command = isJsonObject(exec) ? exec['command'] : undefined;
  const run = isJsonObject(exec) && typeof command === 'string' ? { exec: { ...exec, command: commandPath(command, directory) } } : {};
  return { ...body, ...Object.fromEntries(absolute), ...run };
}

/** As in client-go: a command with a slash starts at the kubeconfig's directory, one without is searched in `$PATH`. */
export function commandPath(command: string, directory: string): string {
  return command.includes('/') && !isAbsolute(command) ? resolve(directory, command) : command;
}
