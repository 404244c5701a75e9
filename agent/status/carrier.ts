import type { Picture } from './node-config-state.ts';
import type { Wanted } from '../sync/plan.ts';

export interface CarrierHandlers {
  /** The first complete list and every change of what is wanted. Never called before the server has answered. */
  onWanted(wanted: Wanted): void;
  /** The object was seen, whatever changed in it: the moment to compare what is reported with how things are. */
  onSeen(): void;
  /** The object cannot be watched at the moment. */
  onTrouble?(text: string): void;
  /** The kubelet's own version, as its Node says it. */
  onKubeletVersion?(text: string): void;
}

/** `kept: false`: the server answered 200 and dropped the fields (spec 13). */
export type Reported = { sent: boolean; kept: boolean };

/** How a node learns its assignment and reports: upstream's Node fields, or an object of our own. Everything else is the same. */
export interface Carrier {
  readonly name: 'node' | 'nodeconfig';
  /** Watches until the signal aborts. Survives every failure of the server. */
  watch(handlers: CarrierHandlers, signal: AbortSignal): Promise<void>;
  /** Writes the picture where it differs from what was last seen there. @throws ApiError, TransportError */
  report(picture: Picture, signal: AbortSignal): Promise<Reported>;
}
