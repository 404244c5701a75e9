import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { doctorContract } from '../../../support/contracts/doctor.ts';
import { apiServer } from '../../../support/embedded-api.ts';
import type { KubeObject } from '../../../../kube/api/object.ts';

const nobody = { token: 'of-nobody', user: 'nobody', groups: ['system:authenticated'] };

doctorContract('dkc doctor --cluster, embedded API server', async () => {
  const server = await apiServer({ version: 'v1.36.0', tokens: [nobody] });
  const dir = await mkdtemp(join(tmpdir(), 'dkc-test-'));
  const kubeconfig = join(dir, 'kubeconfig');
  await writeFile(kubeconfig, server.kubeconfig());
  await writeFile(`${kubeconfig}-of-nobody`, server.kubeconfig(nobody.token));
  const add = (object: KubeObject): void => {
    try {
      server.add(object);
    } catch (error) {
      if (!String(error).includes('already exists')) throw error;
    }
  };
  return {
    kubeconfig,
    asNobody: [`--kubeconfig=${kubeconfig}-of-nobody`],
    version: '1.36',
    apply: async (yaml) => parseAllDocuments(yaml).forEach((document) => add(document.toJS() as KubeObject)),
    stop: async () => {
      await server.stop();
      await rm(dir, { recursive: true });
    },
  };
});
