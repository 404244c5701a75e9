import assert from 'node:assert/strict';
import { after, before, describe } from 'node:test';
import { text, type ApiHttp, type HttpAnswer, type Loose } from '../api-http.ts';

/** What every part of the contract works with. */
export interface ContractWorld {
  api: ApiHttp;
  nodeTokens: Readonly<Record<string, string>> | undefined;
  bookmarkSeconds: number;
  forget: () => Promise<void>;
  /** A namespace of this run's own. */
  namespace: string;
  /** `/api/v1/namespaces/NAMESPACE/configmaps`. */
  configMaps: string;
}

/** The server that a contract is about. */
export interface ServerRelease {
  /** 36 of 1.36. */
  minor: number;
  /** Nodes have `spec.configSource` and `status.config`: up to 1.25, with the gate DynamicKubeletConfig on. */
  dynamicKubeletConfig: boolean;
}

/**
 * What servers of 1.20 and of today do otherwise: `then` is what 1.20.2 does, `today` what 1.36.3 does. Which release between them began is not
 * looked at.
 */
export const byRelease = <T>({ minor }: ServerRelease, then: T, today: T = then): T => (minor >= 34 ? today : then);

/** What a row of a table says: `today` is empty where servers of today say the same, and ´ stands for a backtick. */
export const said = (release: ServerRelease, { says, today }: { says: string; today: string }): string =>
  byRelease(release, says, today === '' ? says : today).replaceAll('´', '`');

/** Tests in a namespace beside the run's own: they leave objects behind while they run, and others count theirs. */
export function inOwnNamespace(here: () => ContractWorld, part: string, tests: (namespace: () => string) => void): void {
  const name = () => `${here().namespace}-${part}`;
  describe(part, () => {
    before(async () => {
      await here().api.post('/api/v1/namespaces', { metadata: { name: name() } });
    });
    after(async () => {
      await here().api.delete(`/api/v1/namespaces/${name()}`);
    });
    tests(name);
  });
}

/** Holds a refusal to its code and its message. @param says - a part of the message @returns its Status */
export function isRefused({ code, json }: HttpAnswer, expected: number, says: string | RegExp): Loose {
  const message = text(json['message']);
  assert.equal(code, expected, message);
  assert.ok(typeof says === 'string' ? message.includes(says) : says.test(message), message);
  return json;
}
