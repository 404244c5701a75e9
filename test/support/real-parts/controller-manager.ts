import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hasInsecurePorts } from './control-plane.ts';
import type { ControlPlane } from './control-plane.ts';
import type { DaemonPlan } from './daemon.ts';

/** More than it ever asks for: its own limit of requests would only be waited for. */
export const NO_LIMIT = 100_000;

/** What any of upstream's programs is started with. */
export interface ProgramOptions {
  /** Its release is the program's. */
  plane: Pick<ControlPlane, 'release' | 'servingCertificate'>;
  /** Its own folder, for its certificate too. */
  home: string;
  /** Path. */
  kubeconfig: string;
  port: number;
  /** Flags besides. */
  more?: readonly string[];
}

/**
 * How upstream's kube-controller-manager is started, without a limit of its own.
 * @param options - `controllers` is the value of `--controllers`
 * @throws {RealPartsUnavailable}
 */
export async function controllerManager(
  options: ProgramOptions & { controllers: string },
): Promise<Pick<DaemonPlan, 'program' | 'args' | 'ready'>> {
  const { plane, home, kubeconfig, port, controllers, more = [] } = options;
  const { 'kube-controller-manager': program } = await plane.release.programs(['kube-controller-manager']);
  const serving = hasInsecurePorts(plane.release) ? insecure(port) : await secureServing(plane, home, port);
  const args = [
    `--kubeconfig=${kubeconfig}`,
    `--controllers=${controllers}`,
    `--kube-api-qps=${NO_LIMIT}`,
    `--kube-api-burst=${NO_LIMIT}`,
    '--bind-address=127.0.0.1',
    ...serving.args,
    ...more,
  ];
  return { program, args, ready: { url: serving.url } };
}

/** Where a program of the control plane is asked for its health. */
export interface Serving {
  args: readonly string[];
  url: string;
}

function insecure(port: number): Serving {
  return { args: ['--address=127.0.0.1', `--port=${port}`, '--secure-port=0'], url: `http://127.0.0.1:${port}/healthz` };
}

/** Serves TLS with a certificate of the control plane's authority. @param home - folder for it */
export async function secureServing(plane: Pick<ControlPlane, 'servingCertificate'>, home: string, port: number): Promise<Serving> {
  const [certFile, keyFile] = [join(home, 'serving.crt'), join(home, 'serving.key')];
  const { cert, key } = await plane.servingCertificate();
  await writeFile(certFile, cert);
  await writeFile(keyFile, key, { mode: 0o600 });
  return {
    args: [`--secure-port=${port}`, `--tls-cert-file=${certFile}`, `--tls-private-key-file=${keyFile}`],
    url: `https://127.0.0.1:${port}/healthz`,
  };
}
