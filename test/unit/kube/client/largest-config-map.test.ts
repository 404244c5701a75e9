import assert from 'node:assert/strict';
import { test } from 'node:test';
import { realClock } from '../../../../base/clock.ts';
import { silentLog } from '../../../../base/log.ts';
import { configMaps } from '../../../../kube/api/object.ts';
import type { KubeObject } from '../../../../kube/api/object.ts';
import { createClient } from '../../../../kube/client/http-client.ts';
import { watchObject } from '../../../../kube/client/watch-object.ts';
import { standIn } from './api-stand-in.ts';

const MIB = 1024 * 1024;
/** As Go's servers write it: each `<` is six bytes. */
const asGo = (value: unknown): string => JSON.stringify(value).replaceAll('<', String.raw`\u003c`);

/** The most that a server takes: 1 MiB of data, 256 KiB of annotations, and what it adds itself. */
const largest = (resourceVersion: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {
    name: 'web',
    namespace: 'dkc-system',
    uid: 'u',
    resourceVersion,
    annotations: { note: '<'.repeat(256 * 1024 - 4) },
    managedFields: [{ fieldsV1: { 'f:metadata': { 'f:annotations': { [`f:${'<'.repeat(100_000)}`]: {} } } } }],
  },
  data: { kubelet: '<'.repeat(MIB - 7) },
});

test('what watches one ConfigMap reads the largest that a server can hold, listed and watched', { timeout: 60_000 }, async (t) => {
  const sizes: number[] = [];
  const server = await standIn('http', ({ url = '' }, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    if (!url.includes('watch=true')) {
      const text = asGo({ kind: 'ConfigMapList', metadata: { resourceVersion: '5' }, items: [largest('5')] });
      sizes.push(text.length);
      response.end(text);
    } else response.write(`${asGo({ type: 'MODIFIED', object: largest('6') })}\n`);
  });
  const client = createClient({ origin: 'test', server: server.url });
  const stop = new AbortController();
  t.after(async () => {
    await client.close();
    await server[Symbol.asyncDispose]();
  });
  const seen: unknown[] = [];
  await watchObject(
    { client, clock: realClock, random: Math.random, log: silentLog },
    configMaps,
    { name: 'web', namespace: 'dkc-system' },
    {
      onSeen({ object }) {
        const { kubelet } = (object?.['data'] ?? { kubelet: '' }) as { kubelet: string };
        seen.push([object?.metadata.resourceVersion, kubelet.length]);
        if (seen.length === 2) stop.abort();
      },
      onFailure: (error) => {
        throw error;
      },
    },
    stop.signal,
  );
  assert.deepEqual(seen, [
    ['5', MIB - 7],
    ['6', MIB - 7],
  ]);
  assert.ok((sizes[0] ?? 0) > 8 * MIB, 'more than the 8 MiB that were taken before');
});
