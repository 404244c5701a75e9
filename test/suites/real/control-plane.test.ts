import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { eventually } from '../../support/eventually.ts';
import { ApiHttp, text } from '../../support/api-http.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { startControlPlane } from '../../support/real-parts/control-plane.ts';
import { withRealParts } from './suite.ts';

const source = join(import.meta.dirname, '../../support/real-parts/control-plane.ts');

/** A zombie that nobody waits for counts as gone. */
function isAlive(pid: number): boolean {
  if (!existsSync(`/proc/${pid}/stat`)) return false;
  return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
}

await withRealParts('control plane', ['etcd', 'kube-apiserver', 'kube-scheduler', 'kube-controller-manager'], () => {
  test('knows its nodes by token and by certificate, and keeps port and data over a restart', async (t) => {
    const plane = await startControlPlane({ nodes: ['node-0'], scheduler: true, controllers: 'namespace' });
    t.after(() => plane.stop());
    const api = new ApiHttp({ url: plane.url, ca: plane.ca, token: plane.adminToken });
    assert.equal((await api.get('/version')).json['gitVersion'], 'v1.20.2');
    await api.post('/api/v1/nodes', { metadata: { name: 'node-0' } });
    assert.equal((await api.get('/api/v1/nodes/node-0', { token: plane.nodeToken('node-0') })).code, 200);
    const other = await api.get('/api/v1/namespaces/default/secrets', { token: plane.nodeToken('node-0') });
    assert.match(text(other.json['message']), /User "system:node:node-0" cannot list/);

    const pair = await plane.clientCertificate('system:node:node-0', ['system:nodes']);
    const asked = request(`${plane.url}/api/v1/nodes/node-0`, { ca: plane.ca, ...pair, agent: false }).end();
    const [response] = await once(asked, 'response');
    assert.equal(response.statusCode, 200);
    response.resume();

    const { etcd, 'kube-apiserver': before } = plane.pids;
    const pids = Object.values(plane.pids).filter((pid) => pid !== undefined);
    assert.equal(pids.length, 4);
    // Scheduler and controller-manager may end when they lose the server before they have quite started, as in life.
    await plane.restartApiServer();
    assert.notEqual(plane.pids['kube-apiserver'], before);
    assert.equal(plane.pids.etcd, etcd);
    assert.equal((await api.get('/api/v1/nodes/node-0')).code, 200);
    assert.match(await plane.logs('kube-scheduler'), /\S/);
    const now = Object.values(plane.pids).filter((pid) => pid !== undefined);
    await plane.stop();
    await plane.stop();
    assert.deepEqual([...pids, ...now].filter(isAlive), []);
  });

  test('what does not start says why, and nothing of it stays', async (t) => {
    // Of its own, so that nothing of others is in it.
    const [before, own] = [process.env['TMPDIR'], await tempDir(t)];
    process.env['TMPDIR'] = own;
    t.after(() => (before === undefined ? delete process.env['TMPDIR'] : (process.env['TMPDIR'] = before)));
    assert.equal(tmpdir(), own);
    await assert.rejects(
      startControlPlane({ apiServerArgs: ['--no-such-flag'] }),
      /kube-apiserver ended with 1[^]*unknown flag: --no-such-flag/,
    );
    assert.deepEqual(readdirSync(own), []);
  });

  test('it dies with the process that started it, however that ends', async (t) => {
    const env = { ...process.env, TMPDIR: await tempDir(t) }; // what a killed process leaves

    const script = `
      const { startControlPlane } = await import(${JSON.stringify(source)});
      const plane = await startControlPlane();
      console.log(JSON.stringify([plane.pids.etcd, plane.pids['kube-apiserver']]));
      if (process.argv[1] === 'throw') throw new Error('on purpose');
      setInterval(() => {}, 1000);`;
    for (const way of ['throw', 'kill']) {
      const child = spawn(process.execPath, ['--input-type=module', '-e', script, way], { stdio: ['ignore', 'pipe', 'ignore'], env });
      const ended = once(child, 'exit');
      const [line] = await once(createInterface({ input: child.stdout }), 'line');
      const pids = JSON.parse(String(line)) as number[];
      if (way === 'kill') child.kill('SIGKILL');
      await ended;
      await eventually(`${way}: ${pids.join(' and ')} are gone`, async () => (pids.some(isAlive) ? undefined : true));
    }
  });
});
