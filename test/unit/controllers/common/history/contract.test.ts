import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { contentHash, wordHash } from '../../../../../controllers/common/history/contract.ts';
import { revisionData } from '../../../../../controllers/common/history/revision.ts';
import { goJson } from '../../../../../kube/api/json.ts';
import { template } from './notation.ts';

// Computed by other means: 32 bits of FNV-1a, then the count in eight bytes, then each digit as a letter.
const known = [
  { why: 'of nothing', data: {}, hash: '5859f96865' },
  { why: 'with a collision count of 0', data: {}, collisionCount: 0, hash: '7b58f74dd9' },
  { why: 'with a collision count of 1', data: {}, collisionCount: 1, hash: '648d6bd896' },
  { why: 'of what is not ASCII', data: revisionData({ metadata: { labels: { app: 'ä' } } }), hash: '76458bf496' },
];
for (const { why, data, collisionCount, hash } of known) {
  test(`hash of the content ${why}`, () => assert.equal(contentHash(data, collisionCount), hash));
}

test('each collision gives another hash, 0 too', () => {
  const data = revisionData(template('a'));
  const hashes = [undefined, 0, 1, 2, 256, 2 ** 31 - 1].map((count) => contentHash(data, count));
  assert.equal(new Set(hashes).size, hashes.length);
  for (const hash of hashes) assert.match(hash, /^[4-9bcdf]{1,10}$/);
});

/** The template that the field tests its own hash with, as a server before 1.34 gives it; its fields in another order. */
const inTheField = {
  spec: {
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 30,
    dnsPolicy: 'ClusterFirst',
    securityContext: {},
    schedulerName: 'default-scheduler',
    containers: [
      {
        name: 'test',
        image: 'test',
        resources: {},
        terminationMessagePath: '/dev/termination-log',
        terminationMessagePolicy: 'File',
        imagePullPolicy: 'Always',
      },
    ],
  },
  metadata: { creationTimestamp: null, labels: { app: 'foo' }, annotations: { test: 'value' } },
};
const { creationTimestamp: _, ...withoutTime } = inTheField.metadata;

const ofWords = [
  { why: 'without collisions', data: revisionData(inTheField), collisionCount: 0, hash: 'c77f6d978' },
  { why: 'with a count that was never written', data: revisionData(inTheField), collisionCount: undefined, hash: 'c77f6d978' },
  { why: 'with one collision', data: revisionData(inTheField), collisionCount: 1, hash: 'c77f6d979' },
  {
    why: 'of what a server from 1.34 on gives',
    data: revisionData({ ...inTheField, metadata: withoutTime }),
    collisionCount: 0,
    hash: '776999688b',
  },
];
for (const { why, data, collisionCount, hash } of ofWords) {
  test(`hash of the words ${why} is the field's`, () => assert.equal(wordHash(data, collisionCount), hash));
}

/** As textbooks have it, in numbers of any length. */
function fnv1(text: string): string {
  let hash = 2166136261n;
  for (const byte of Buffer.from(text)) hash = ((hash * 16777619n) % 2n ** 32n) ^ BigInt(byte);
  return String(hash).replace(/\d/g, (digit) => '456789bcdf'.charAt(Number(digit)));
}

test('hash of the words is FNV-1 of what servers would store, and of the count in decimal', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.option(fc.nat(2 ** 31 - 1), { nil: undefined }), (data, count) => {
      assert.equal(wordHash(data, count), fnv1(goJson(data) + String(count ?? 0)));
    }),
  );
});

test('hash of the words sees what the hash of the content does not: a null', () => {
  const [bare, nulled] = [{ a: 1 }, { a: 1, b: null }];
  assert.equal(contentHash(nulled), contentHash(bare));
  assert.notEqual(wordHash(nulled), wordHash(bare));
});
