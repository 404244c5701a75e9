import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import { text, type ApiHttp, type CallOptions, type HttpAnswer, type Loose } from '../api-http.ts';
import { eventually } from '../eventually.ts';
import { table } from '../table.ts';

/** What every part of the contract works with. */
export interface ContractWorld {
  api: ApiHttp;
  release: ServerRelease;
  /** Token of `system:node:NAME` in system:nodes, for `contract-a` and `contract-b`. */
  nodeTokens: Readonly<Record<string, string>>;
  /** Length of the watch that waits for a bookmark, in s; the real server's last bookmark comes two seconds before the end. */
  bookmarkSeconds: number;
  /** Makes the server forget all changes so far. */
  forget: () => Promise<void>;
  /** A namespace of this run's own. */
  namespace: string;
  /** `/api/v1/namespaces/NAMESPACE/configmaps`. */
  configMaps: string;
}
export type Here = () => ContractWorld;

/** The server that a contract is about. */
export interface ServerRelease {
  /** 36 of 1.36. */
  minor: number;
  /** Nodes have `spec.configSource` and `status.config`: up to 1.25, with the gate DynamicKubeletConfig on. */
  dynamicKubeletConfig: boolean;
}

/** What 1.20.2 and 1.36.3 do otherwise. Which release between them began is not looked at. */
export const byRelease = <T>({ minor }: ServerRelease, then: T, today: T): T => (minor >= 34 ? today : then);

const own = '/api/v1/namespaces/NS';
const paths: Readonly<Record<string, string>> = {
  CMS: `${own}/configmaps`,
  PODS: `${own}/pods`,
  EVENTS: `${own}/events`,
  NODES: '/api/v1/nodes',
  LEASES: '/apis/coordination.k8s.io/v1/namespaces/NS/leases',
  APPS: '/apis/apps/v1/namespaces/NS',
  BUDGETS: '/apis/POLICY/namespaces/NS/poddisruptionbudgets',
};

const patches: Readonly<Record<string, string>> = {
  PATCH: 'application/merge-patch+json',
  STRATEGIC: 'application/strategic-merge-patch+json',
  JSON: 'application/json-patch+json',
  APPLY: 'application/apply-patch+yaml',
};

/**
 * A test of requests in their order: `ask | body | code | says`.
 * `ask` is a method, or STRATEGIC, JSON or APPLY for such a patch, and a path that may begin with a word of `paths`; `~` before it asks until it is so.
 * `body` is YAML. Behind `code` may stand the reason. `says` is a part of the message (`THEN // TODAY` where releases differ), `names:` and the names of a
 * list's items, or YAML of which the answer holds everything: null stands for what is not there.
 * RV2, UID2, NAME2 and NEXT2 are version, uid, name and continue token of the second answer, OWNER2 a reference to its ConfigMap, NS the run's namespace.
 */
export const exchangesOf =
  (here: Here) =>
  (title: string) =>
  (rows: string): void =>
    void test(title, async () => {
      const answers: HttpAnswer[] = [];
      for (const row of table('ask | body | code | says')(rows)) answers.push(await asked(here(), answers, row));
    });

type Row = Record<'ask' | 'body' | 'code' | 'says', string>;

async function asked({ api, namespace, release }: ContractWorld, answers: readonly HttpAnswer[], row: Row): Promise<HttpAnswer> {
  const filled = (from: string, quoted: (value: string) => string): string =>
    from
      .replace(/\bOWNER(\d)/g, '{apiVersion: v1, kind: ConfigMap, name: NAME$1, uid: UID$1, blockOwnerDeletion: true}')
      .replace(/\b(RV|UID|NAME|NEXT)(\d+)\b/g, (_all, what: string, n: string) => {
        const { resourceVersion, uid, name, continue: next } = answers[Number(n) - 1]?.json['metadata'] ?? {};
        return quoted(text({ RV: resourceVersion, UID: uid, NAME: name, NEXT: next }[what]));
      })
      .replaceAll('POLICY', byRelease(release, 'policy/v1beta1', 'policy/v1'))
      .replaceAll(/\bNS\b/g, namespace);
  const [, again, word = '', path = ''] = /^(~?)(\w+) (.*)/.exec(row.ask) ?? [];
  const at = filled(
    path.replace(/^[A-Z]+/, (name) => paths[name] ?? name),
    encodeURIComponent,
  );
  const body: unknown = row.body === '' ? undefined : parse(filled(row.body, JSON.stringify));
  const type = patches[word];
  const options: CallOptions = { body, ...(type === undefined ? {} : { type }) };
  const [code, reason] = row.code.split(' ');
  const call = async (): Promise<HttpAnswer> => {
    const answer = await api.call(type === undefined ? word : 'PATCH', at, options);
    assert.equal(answer.code, Number(code), `${row.ask}: ${answer.text}`);
    if (reason !== undefined) assert.equal(answer.json['reason'], reason);
    if (row.says.startsWith('names:')) assert.equal(['names:', ...namesOf(answer)].join(' '), row.says);
    else if (row.says.startsWith('{')) holds(answer.json, parse(filled(row.says, JSON.stringify)), row.ask);
    else if (row.says !== '') isRefused(answer, Number(code), filled(said(release, row.says), String));
    return answer;
  };
  if (again === '') return call();
  return eventually(row.ask, () => call().catch(() => undefined));
}

/** `THEN // TODAY`; ´ stands for a backtick. */
export const said = (release: ServerRelease, says: string): string => {
  const [then = '', today = then] = says.split(' // ');
  return byRelease(release, then, today).replaceAll('´', '`');
};

const namesOf = ({ json }: HttpAnswer): string[] => Object.values(json['items'] ?? {}).map((item) => text(item['metadata']?.['name']));

/** Holds `actual` to all that `expected` has; lists are as long, and null is what is not there. */
export function holds(actual: unknown, expected: unknown, where: string): void {
  if (expected === null) assert.equal(actual ?? null, null, where);
  else if (Array.isArray(expected)) {
    assert.equal((actual as unknown[] | undefined)?.length, expected.length, `${where}: ${JSON.stringify(actual)}`);
    expected.forEach((one, at) => holds((actual as unknown[])[at], one, `${where}[${at}]`));
  } else if (typeof expected === 'object') {
    assert.equal(typeof actual, 'object', where);
    for (const [field, value] of Object.entries(expected)) holds((actual as Loose)[field], value, `${where}.${field}`);
  } else assert.equal(actual, expected, where);
}

/** Holds a refusal to its code and its message. @param says - a part of the message @returns its Status */
export function isRefused(answer: HttpAnswer, expected: number, says: string | RegExp): Loose {
  const message = text(answer.json['message']);
  assert.equal(answer.code, expected, message);
  assert.ok(typeof says === 'string' ? message.includes(says) : says.test(message), message);
  return answer.json;
}
