import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { runCli } from '../cli-context.ts';
import { connect } from '../../../cli/connect/connect.ts';
import { type KubeObject, type Resource } from '../../../kube/api/object.ts';
import type { Client } from '../../../kube/client/client.ts';
import { eventually } from '../eventually.ts';

export interface DoctorHome {
  /** Path of an administrator's kubeconfig. */
  kubeconfig: string;
  /** Flags of `dkc` that make it somebody without any rights. */
  asNobody: readonly string[];
  /** `1.36`. */
  version: string;
  /** What `kubectl apply -f -` does with this text. */
  apply(yaml: string): Promise<unknown>;
  stop(): Promise<void>;
}

type Line = { check: string; result: string; detail: string; remedy: string | null };

const rbac = (resource: string, kind: string, namespaced = false): Resource => ({ group: 'rbac.authorization.k8s.io', version: 'v1', resource, kind, namespaced }); // prettier-ignore
const clusterRoles = rbac('clusterroles', 'ClusterRole');
const policies: Resource = { group: 'admissionregistration.k8s.io', version: 'v1', resource: 'validatingadmissionpolicies', kind: 'ValidatingAdmissionPolicy', namespaced: false }; // prettier-ignore

/** `dkc doctor --cluster` says what a cluster lacks, and nothing once our manifests are there. */
export function doctorContract(name: string, start: () => Promise<DoctorHome>): void {
  describe(name, () => {
    let home: DoctorHome;
    let client: Client;
    before(async () => {
      home = await start();
      client = await connect({ kubeconfig: home.kubeconfig }, {});
    });
    after(async () => {
      await client?.close();
      await home?.stop();
    });

    const doctor = async (...flags: string[]): Promise<{ code: number; lines: Map<string, Line>; stderr: string }> => {
      const ran = await runCli(['doctor', '--cluster', '-o', 'json', `--kubeconfig=${home.kubeconfig}`, ...flags], { connect: (query) => connect(query, {}) }); // prettier-ignore
      const lines = ran.stdout === '' ? [] : (JSON.parse(ran.stdout) as Line[]);
      return { code: ran.code, stderr: ran.stderr, lines: new Map(lines.map((line) => [line.check, line])) };
    };
    /** Checks with this result. */
    const withResult = async (result: string): Promise<string[]> => [...(await doctor()).lines.values()].filter((line) => line.result === result).map(({ check }) => check); // prettier-ignore
    const deploy = async (): Promise<void> => {
      const { stdout } = await runCli(['deploy', 'manifests', `--kubernetes-version=${home.version}`]);
      await home.apply(stdout);
      await eventually('established definitions', async () => {
        const { lines } = await doctor();
        return ['crd-nodeconfigs', 'crd-rollouts'].every((check) => lines.get(check)?.result === 'ok');
      });
    };
    /** Applies all again; what somebody took away of an object comes back only if that goes first. */
    const repair = async (resource: Resource, object: string): Promise<void> => {
      await client.delete(resource, { name: object }).catch(() => {});
      await eventually(`no ${object}`, () => client.get(resource, { name: object }).then(() => false, () => true)); // prettier-ignore
      await deploy();
    };

    test('a cluster without dkc lacks the definitions and the roles', async () => {
      const { code, lines } = await doctor();
      assert.equal(code, 1);
      for (const check of ['agent-roles', 'roles']) assert.equal(lines.get(check)?.result, 'failed', check);
      const failed = [...lines.values()].filter(({ result }) => result === 'failed');
      for (const { check, remedy } of failed) assert.match(remedy ?? '', /dkc deploy manifests/, check);
    });

    test('with `dkc deploy manifests | kubectl apply -f -` nothing is wrong', async () => {
      await deploy();
      const { code, lines, stderr } = await doctor();
      assert.equal(code, 0, stderr);
      const results = [...lines.values()].map(({ check, result }) => `${check} ${result}`);
      assert.deepEqual(
        results.filter((line) => !line.endsWith(' ok')),
        ['agents', 'agent-versions', 'kubelet-versions', 'rollout-controller', 'set-controllers', 'flow-control'].map((check) => `${check} skipped`), // prettier-ignore
      );
    });

    test('what is missing, and what grants too little, is named', async () => {
      await client.delete(clusterRoles, { name: 'dkc-assign' });
      assert.match((await doctor()).lines.get('roles')?.detail ?? '', /^there is no ClusterRole dkc-assign$/);
      await deploy();
      const role = await client.get<KubeObject & { rules: object[] }>(clusterRoles, { name: 'dkc-agent' });
      await client.replace(clusterRoles, { ...role, rules: role.rules.slice(0, 1) });
      const says = /^ClusterRole dkc-agent does not grant patch nodeconfigs\/status$/;
      assert.match((await doctor()).lines.get('agent-roles')?.detail ?? '', says);
      await repair(clusterRoles, 'dkc-agent');
      await client.delete(policies, { name: 'nodeconfigs.dkc.dev' });
      assert.deepEqual(await withResult('failed'), ['admission-policy']);
      await repair(policies, 'nodeconfigs.dkc.dev');
      assert.deepEqual(await withResult('failed'), []);
    });

    test('what you may not see is skipped, and what you may not do is said', async () => {
      const { lines } = await doctor(...home.asNobody);
      assert.equal(lines.get('namespace')?.result, 'skipped');
      assert.match(lines.get('namespace')?.detail ?? '', /403/);
      const lacks = /^this user lacks the rights: get, list nodes; list, create, patch nodeconfigs\.dkc\.dev; /;
      assert.match(lines.get('caller-rights')?.detail ?? '', lacks);
    });
  });
}
