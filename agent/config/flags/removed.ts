import type { Finding, KubeletFacts } from '../contract.ts';

/** Flags that kubelets had, by the first minor without them: it does not start with one. From the release notes; not all since 1.20. */
const REMOVED: Readonly<Record<number, string>> = {
  27: 'container-runtime',
  34: 'cloud-config register-schedulable',
  35: 'pod-infra-container-image',
  37:
    'application-metrics-count-limit boot-id-file container-hints containerd containerd-namespace enable-load-reader event-storage-age-limit event-storage-event-limit ' +
    'global-housekeeping-interval log-cadvisor-usage machine-id-file storage-driver-user storage-driver-password storage-driver-host storage-driver-db storage-driver-table ' +
    'storage-driver-secure storage-driver-buffer-duration',
};

const removedIn: ReadonlyMap<string, number> = new Map(
  Object.entries(REMOVED).flatMap(([since, flags]) => flags.split(' ').map((flag) => [flag, Number(since)] as const)),
);

/** Flags on a kubelet's command line that its version no longer has. What its own --help lists is right against the table. */
export function removedFlags({ args, version, knownFlags }: KubeletFacts): Finding[] {
  const given = new Set(args.flatMap((arg) => /^--([a-z][-_a-z0-9]*)/.exec(arg)?.[1]?.replaceAll('_', '-') ?? []));
  return [...given].flatMap((flag) => {
    const since = removedIn.get(flag);
    if (since === undefined || version.minor < since || knownFlags?.has(flag) === true) return [];
    const message = `the kubelet of this node is started with --${flag}, which kubelets from 1.${since} on do not have: 1.${version.minor} would not start`;
    return [{ field: '', rule: 'removed-flag', message }];
  });
}
