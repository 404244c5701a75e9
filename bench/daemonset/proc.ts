/** Costs of a process so far. */
export interface Usage {
  /** Processor time of all its threads. */
  cpuMs: number;
  /** Current resident memory. */
  rssMb: number;
  /** Maximum resident memory so far. */
  peakMb: number;
}

// A tick is 10 ms on every Linux that Node runs on.
const TICK_MS = 10;

/**
 * @param stat - the text of `/proc/PID/stat`
 * @param status - the text of `/proc/PID/status`
 * @throws RangeError if the texts have another format
 */
export function usageOf(stat: string, status: string): Usage {
  // The name in parentheses may contain spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = Number(fields[11]) + Number(fields[12]);
  const megabytes = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) / 1024;
  const usage = { cpuMs: ticks * TICK_MS, rssMb: megabytes('VmRSS'), peakMb: megabytes('VmHWM') };
  if (Object.values(usage).some((value) => Number.isNaN(value))) throw new RangeError('this is not what /proc says of a process');
  return usage;
}
