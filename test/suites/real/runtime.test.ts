import { after, before } from 'node:test';
import { cacheStory } from './runtime/cache.ts';
import { certificatesStory } from './runtime/certificates.ts';
import { controllerStory } from './runtime/controller.ts';
import { RuntimeWorld } from './runtime/world.ts';
import { withRealParts } from './suite.ts';

await withRealParts('runtime', ['etcd', 'kube-apiserver'], () => {
  const world = new RuntimeWorld();
  before(() => world.start());
  after(() => world.stop());
  cacheStory(world);
  controllerStory(world);
  certificatesStory(world);
});
