import type { Finding, HostFacts, JsonObject, KubeletFacts } from '../contract.ts';
import { gatesOnCommandLine } from '../flags/flags.ts';
import { Judge } from '../rules/validation.ts';

/** A configuration in question, with what the node shows; errors and warnings so far. */
export class Preflight extends Judge {
  readonly warnings: Finding[] = [];
  readonly host: HostFacts;
  readonly kubelet: KubeletFacts;

  constructor(defaulted: JsonObject, host: HostFacts, kubelet: KubeletFacts) {
    super(defaulted, {
      version: kubelet.version,
      flags: gatesOnCommandLine(kubelet.args, kubelet.version),
      ...(kubelet.knownGates === undefined ? {} : { knownGates: kubelet.knownGates }),
    });
    this.host = host;
    this.kubelet = kubelet;
  }

  /** Something that depends on a fact about the host that nobody gave us, or that hurts without being fatal. */
  warn(field: string, rule: string, text: string): void {
    this.keep(this.warnings, field, rule, text);
  }
}
