import { join } from 'node:path';
import { SLEEPER } from '../../support/image/sleeper.ts';
import { containerdConfig, containerdParts, containerdPrograms, networkConfig } from '../../support/real-parts/containerd.ts';
import { CRI } from './inside/names.ts';

const fakeProgram = join(import.meta.dirname, '../../support/real-parts/fake-runtime.ts');

/** What runs the pods of a node: its unit, and what that takes. */
export interface Runtime {
  unit: string;
  /** Path inside -> text. */
  files: Readonly<Record<string, string>>;
  /** Path outside -> path inside. */
  keep: Readonly<Record<string, string>>;
}

/** A runtime whose containers run nothing. */
export const fakeRuntime = (args: readonly string[]): Runtime => ({
  unit: 'fake-runtime.service',
  files: {
    '/etc/systemd/system/fake-runtime.service': `[Service]
RuntimeDirectory=fake-runtime
ExecStart=${process.execPath} ${fakeProgram} --socket ${CRI} ${args.join(' ')}
`,
  },
  keep: {},
});

/** containerd and runc as Debian has them, under their own unit. @throws {RealPartsUnavailable} */
export function containerd(): Runtime {
  const root = containerdParts();
  return {
    unit: 'containerd.service',
    files: { '/etc/containerd/config.toml': containerdConfig(SLEEPER), '/etc/cni/net.d/10-none.conflist': networkConfig },
    keep: Object.fromEntries(Object.entries(containerdPrograms).map(([inside, path]) => [join(root, path), `${inside}:ro`])),
  };
}
