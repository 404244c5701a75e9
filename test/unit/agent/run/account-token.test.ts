import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseAccountToken, renewToken } from '../../../../agent/run/account-token.ts';
import { silentLog } from '../../../../base/log.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const HOUR = 3_600_000;
const claims = { sub: 'system:serviceaccount:dkc-system:node-a', aud: ['api'] };
const text = (of: object): string => `e30.${Buffer.from(JSON.stringify(of)).toString('base64url')}.c2ln`;
/** Issued so many hours after the clock's start, for an hour. */
const token = (startsAt: number, hour: number, over: object = {}): string =>
  text({ ...claims, iat: startsAt / 1000 + hour * 3600, exp: startsAt / 1000 + (hour + 1) * 3600, ...over });

// prettier-ignore
const kinds: { why: string; of: string; is: string | undefined }[] = [
  { why: 'the token of a ServiceAccount', of: text({ ...claims, iat: 1, exp: 3601 }), is: 'dkc-system/node-a' },
  { why: 'one that never expires', of: text({ ...claims, iat: 1 }), is: undefined },
  { why: 'a name that leaves its path', of: text({ ...claims, sub: 'system:serviceaccount:a:../../b/c', iat: 1, exp: 2 }), is: undefined },
  { why: 'text that is no JSON', of: 'a.b.c', is: undefined },
];

for (const { why, of, is } of kinds)
  test(`a token is read: ${why}`, () => {
    const read = parseAccountToken(of);
    assert.equal(read && `${read.namespace}/${read.name}`, is);
  });

// prettier-ignore
const skews: { why: string; aheadHours: number; renewals: number; fails?: number; stale?: number }[] = [
  { why: 'a clock that agrees with the server', aheadHours: 0, renewals: 3 },
  { why: 'a server that fails at first, and issues an old token once', aheadHours: 0, renewals: 5, fails: 1, stale: 2 },
  { why: 'a clock that is a day ahead: each token looks expired', aheadHours: 24, renewals: 4 },
  { why: 'a clock that is a day behind: no token ever looks due', aheadHours: -24, renewals: 4 },
];

for (const { why, aheadHours, renewals, fails = 0, stale } of skews)
  test(`a token of an hour is valid for three hours without a request too many: ${why}`, async () => {
    const clock = new FakeClock();
    const server = clock.now();
    const began = clock.monotonic();
    const serverHour = (): number => (clock.monotonic() - began) / HOUR;
    clock.jump(aheadHours * HOUR);
    let file = token(server, 0);
    let asked = 0;
    const stop = new AbortController();
    const disk = {
      read: async () => new TextEncoder().encode(file),
      replace: async (_path: string, bytes: Uint8Array, mode?: number) =>
        void (file = mode === 0o600 ? new TextDecoder().decode(bytes) : 'for all'),
    };
    const post = async () => {
      asked += 1;
      if (asked <= fails) throw new Error('the server is away');
      // A second later, so that the first answer is one that lives longer.
      return { status: { token: asked === stale ? token(server, -1) : token(server, serverHour() + 1 / 3600) } };
    };
    const running = renewToken('/var/lib/dkc/token', { clock, random: () => 0, log: silentLog, disk, client: { post } }, stop.signal);
    for (let minute = 0; minute < 180; minute += 5) {
      await clock.advance(HOUR / 12);
      assert.ok((parseAccountToken(file)?.expiresAt ?? 0) > server + serverHour() * HOUR, `expired after ${minute} min`);
    }
    assert.equal(asked, renewals);
    clock.jump(HOUR);
    await clock.advance(HOUR / 6);
    if (aheadHours === 0 && fails === 0) assert.equal(asked, renewals + 1, 'the machine was suspended for an hour');
    stop.abort();
    await running;
  });
