import { scenario } from '../../systemd/inside/scenario.ts';
import { settled, systemctl, property } from '../../systemd/inside/systemctl.ts';
import { crashes, dkcJson, healthyOn, since, starts } from '../inside/node.ts';

export interface BootResult {
  /** From the start of systemd to the first kubelet, in ms. */
  firstMs: number;
  /** From the start of this look, which begins once the machine has booted, to a healthy kubelet on the trusted config, in ms. */
  healthyMs: number;
  starts: number;
  crashes: number;
  status: { assigned: { name: string } | null; active: { name: string } | null; error: string | null };
}

/** A boot without an API server: agent and kubelet were started by it, nobody else starts or tells anything. */
await scenario(async (): Promise<BootResult> => {
  const from = performance.now();
  await healthyOn(120);
  const healthyMs = since(from);
  await settled();
  const systemd = Number(systemctl('show', '-P', 'UserspaceTimestampMonotonic'));
  const first = Number(property('kubelet.service', 'ActiveEnterTimestampMonotonic'));
  return { firstMs: Math.round((first - systemd) / 1000), healthyMs, starts: starts(), crashes: crashes(), status: dkcJson('status') };
});
