/** Reads what the kernel and the kubelet write about themselves. Pure; undefined where the text is not of the form it should have. */

/** `0-3,8`: the kernel's list of CPUs. */
export function cpuList(text: string): number[] | undefined {
  const cpus: number[] = [];
  for (const part of text.trim().split(',')) {
    const range = /^(\d+)(?:-(\d+))?$/.exec(part);
    if (!range) return undefined;
    const [first, last] = [Number(range[1]), Number(range[2] ?? range[1])];
    if (last - first > 65_536) return undefined;
    for (let cpu = first; cpu <= last; cpu++) cpus.push(cpu);
  }
  return cpus;
}

/** `MemTotal:  24576000 kB`, in bytes. */
export function memoryTotal(meminfo: string): bigint | undefined {
  const kib = /^MemTotal:\s+(\d+) kB$/m.exec(meminfo)?.[1];
  return kib === undefined ? undefined : BigInt(kib) * 1024n;
}

/** `policyName` of a CPU or memory manager's state file. */
export function policyName(state: string): string | undefined {
  try {
    const { policyName: name } = JSON.parse(state) as { policyName?: unknown };
    return typeof name === 'string' ? name : undefined;
  } catch {
    return undefined;
  }
}
