import { killer } from '../../inside/configs.ts';

/** The nodes that are given the same at the same time: a kubelet with --dynamic-config-dir, and our agent with nothing that judges before it assigns. */
export const nodeNames = ['native', 'ours'] as const;
export type NodeName = (typeof nodeNames)[number];

/**
 * With `trial-over` ten minutes of a trial pass in no time: for the native kubelet a file gets older, for the agent a setting shorter; with `time-passes` the
 * file gets older alone.
 */
export type Act =
  | { do: 'nothing' | 'clear' | 'trial-over' | 'time-passes' }
  | { do: 'make' | 'edit'; name: string; fields: Fields }
  | { do: 'touch' | 'delete'; name: string }
  | { do: 'assign'; name: string; key?: string };

type Fields = Readonly<Record<string, unknown>>;

/** On purpose: what ours ends with or does otherwise, and why. */
export interface Difference {
  /** Where status.config ends. @default as the native one's */
  end?: string;
  why: string;
}

export interface Step {
  step: string;
  acts: readonly Act[];
  /** Where the native kubelet's status.config ends: ConfigMap@version, or what is absent. */
  end: string;
  ours?: Difference;
  /** Starts of a kubelet that the step costs, at least; `dies` = again and again. */
  starts: Readonly<Record<NodeName, number | 'dies'>>;
  /** Nothing may happen in a node that ends as it began: wait so long, in ms. The native kubelet looks every 10 to 12 s. */
  quietMs?: number;
}

const make = (name: string, fields: Fields): Act => ({ do: 'make', name, fields });
const assign = (name: string, key?: string): Act => ({ do: 'assign', name, ...(key === undefined ? {} : { key }) });
const each = (starts: number) => ({ native: starts, ours: starts });
const load = 'error=failed to load config, see Kubelet log for details';
const validate = 'error=failed to validate config, see Kubelet log for details';
const download = 'error=failed to sync: failed to download config, see Kubelet log for details';
const failedTrial = 'error=failed trial, see dkc-agent log for details';

export const steps: readonly Step[] = [
  { step: 'The nodes register, nothing is assigned', acts: [{ do: 'nothing' }], end: '{}', starts: each(1) },
  { step: 'A ConfigMap that does not exist is assigned', acts: [assign('late')], end: download, starts: each(0) },
  {
    step: 'The assignment is cleared again',
    acts: [{ do: 'clear' }],
    end: download,
    ours: { end: '{}', why: 'The error is cleared as soon as its cause is gone, not at the next restart' },
    starts: each(0),
    quietMs: 13_000,
  },
  {
    step: 'A good config is assigned',
    acts: [make('good', { maxPods: 120 }), assign('good')],
    end: 'assigned=good@1 active=good@1',
    starts: each(1),
  },
  { step: 'The assignment is cleared', acts: [{ do: 'clear' }], end: '{}', starts: each(1) },
  { step: 'The good config is assigned again', acts: [assign('good')], end: 'assigned=good@1 active=good@1', starts: each(1) },
  {
    step: 'The content of the ConfigMap is edited',
    acts: [{ do: 'edit', name: 'good', fields: { maxPods: 121 } }],
    end: 'assigned=good@2 active=good@2',
    starts: each(1),
  },
  {
    step: 'A label of the ConfigMap is changed',
    acts: [{ do: 'touch', name: 'good' }],
    end: 'assigned=good@3 active=good@3',
    ours: { why: 'Identical content is adopted in place, without a restart of the kubelet' },
    starts: { native: 1, ours: 0 },
  },
  { step: 'The trial is over', acts: [{ do: 'trial-over' }], end: 'assigned=good@3 active=good@3 last-known-good=good@3', starts: each(0) },
  {
    step: 'An invalid config is assigned',
    acts: [make('invalid', { maxPods: -1 }), assign('invalid')],
    end: `assigned=invalid@1 active=good@3 last-known-good=good@3 ${validate}`,
    starts: { native: 1, ours: 0 },
    ours: { why: 'The kubelet is restarted only when its file changes, and it already runs the last known good config' },
  },
  {
    step: 'A config with a field that no kubelet has is assigned',
    acts: [make('odd', { maxPods: 122, noSuchField: 1 }), assign('odd')],
    end: 'assigned=odd@1 active=odd@1 last-known-good=good@3',
    starts: each(1),
  },
  {
    step: 'A key that the ConfigMap does not have is assigned',
    acts: [assign('odd', 'absent')],
    end: `assigned=odd@1:absent active=good@3 last-known-good=good@3 ${load}`,
    starts: each(1),
  },
  {
    step: 'A ConfigMap that does not exist is assigned, with one in use',
    acts: [assign('late')],
    end: `assigned=odd@1:absent active=good@3 last-known-good=good@3 ${download}`,
    starts: each(0),
  },
  {
    step: 'That ConfigMap is created',
    acts: [make('late', { maxPods: 123 })],
    end: 'assigned=late@1 active=late@1 last-known-good=good@3',
    starts: each(1),
  },
  {
    step: 'That ConfigMap is deleted while in use',
    acts: [{ do: 'delete', name: 'late' }],
    end: `assigned=late@1 active=late@1 last-known-good=good@3 ${download}`,
    starts: each(0),
  },
  {
    step: 'That ConfigMap is created again, with the same content',
    acts: [make('late', { maxPods: 123 })],
    end: 'assigned=late@2 active=late@2 last-known-good=good@3',
    ours: { why: 'Identical content is adopted in place, without a restart of the kubelet' },
    starts: { native: 1, ours: 0 },
  },
  {
    step: 'A config that passes validation and kills the kubelet is assigned',
    acts: [make('killer', { maxPods: 124, ...killer }), assign('killer')],
    end: 'assigned=late@2 active=late@2 last-known-good=good@3',
    ours: {
      end: `assigned=killer@1 active=good@3 last-known-good=good@3 ${failedTrial}`,
      why: 'Three crashes condemn the config, and the agent rolls back to the last known good one',
    },
    starts: { native: 'dies', ours: 'dies' },
  },
  {
    step: 'Ten minutes pass',
    acts: [{ do: 'time-passes' }],
    end: 'assigned=late@2 active=late@2 last-known-good=good@3',
    ours: {
      end: `assigned=killer@1 active=good@3 last-known-good=good@3 ${failedTrial}`,
      why: 'The native kubelet, on its disk, trusts the config that kills it, unreported; the agent keeps its trusted one',
    },
    starts: { native: 'dies', ours: 0 },
  },
  {
    step: 'The assignment is cleared, to rescue the node',
    acts: [{ do: 'clear' }],
    end: 'assigned=late@2 active=late@2 last-known-good=good@3',
    ours: { end: '{}', why: 'The native kubelet dies before it reads its Node; the agent is a separate process' },
    starts: { native: 'dies', ours: 1 },
  },
];
