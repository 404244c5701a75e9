import { anything, object, ref } from '../openapi/schema.ts';

/** Spec and status pass as they are: what they need is checked by hand, and nothing unknown is lost. */
export const podSchema = object('Containers that run together on one node.', {
  metadata: ref('ObjectMeta', 'Name, labels and the like.'),
  spec: anything('What should run.'),
  status: anything('What runs.'),
});
