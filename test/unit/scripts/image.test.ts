import assert from 'node:assert/strict';
import { test } from 'node:test';
import { restrictedPod } from '../../../deploy/workload.ts';
import { base, baseComponents, USER } from '../../../scripts/image/base.ts';
import { describe, imageConfig, imageIndex, imageManifest, jsonBytes, mediaTypes } from '../../../scripts/image/documents.ts';

const release = { version: '0.1.0', commit: 'abc', epoch: 1_700_000_000 };
const layer = (text: string, createdBy: string) => ({
  descriptor: describe(mediaTypes.layer, Buffer.from(text)),
  diffId: `sha256:${text}`,
  createdBy,
});
const layers = [layer('lower', 'base'), layer('upper', 'dkc')];

test('a descriptor has type, digest and size of its bytes', () =>
  assert.deepEqual(describe(mediaTypes.config, Buffer.from('{}')), {
    mediaType: 'application/vnd.oci.image.config.v1+json',
    digest: 'sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a',
    size: 2,
  }));

test('the configuration names layers in order, and the numeric user that the manifests of pods have', () => {
  const config = imageConfig('arm64', USER, release, layers) as {
    config: { User: string };
    rootfs: object;
    created: string;
    architecture: string;
  };
  assert.deepEqual(config.rootfs, { type: 'layers', diff_ids: ['sha256:lower', 'sha256:upper'] });
  assert.deepEqual([config.created, config.architecture], ['2023-11-14T22:13:20Z', 'arm64']);
  assert.equal(config.config.User, `${restrictedPod.runAsUser}:${restrictedPod.runAsGroup}`);
});

test('manifest and index point to what they are given', () => {
  const config = describe(mediaTypes.config, Buffer.from('{}'));
  const manifest = imageManifest(config, layers, release) as { layers: object[]; config: object };
  assert.deepEqual([manifest.config, manifest.layers], [config, layers.map(({ descriptor }) => descriptor)]);
  const pointer = describe(mediaTypes.manifest, jsonBytes(manifest));
  assert.deepEqual(imageIndex([pointer]), { schemaVersion: 2, mediaType: mediaTypes.index, manifests: [pointer] });
});

test("Debian's packages are pinned for both architectures, with license and package URL", () => {
  for (const [name, { sha256, version, license }] of Object.entries(base.packages)) {
    for (const arch of ['amd64', 'arm64'] as const) assert.match(sha256[arch], /^[0-9a-f]{64}$/, name);
    assert.ok(version !== '' && license !== '', name);
  }
  const urls = baseComponents('arm64').map(({ purl }) => purl);
  assert.ok(urls.includes('pkg:deb/debian/libstdc%2B%2B6@12.2.0-14%2Bdeb12u1?arch=arm64&distro=bookworm'), urls.join(' '));
});
