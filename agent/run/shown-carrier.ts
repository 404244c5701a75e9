import type { AgentContext } from './agent-context.ts';
import type { AgentOptions } from '../options.ts';
import type { Choice } from '../status/choose-carrier.ts';

type Chosen = Pick<Choice, 'carrier' | 'why' | 'missing'> & Partial<Pick<Choice, 'wanted'>>;

/** What `--assignment` says before the API server has answered. */
export function firstChoice(assignment: AgentOptions['assignment']): Chosen {
  if (assignment === 'auto') return { carrier: null, why: 'the API server has not answered yet' };
  return { carrier: assignment, why: `--assignment=${assignment}` };
}

/** Says in log, `dkc status` and events which object assigns, why, and what is missing; each once, until it changes. */
export class ShownCarrier {
  readonly #context: Pick<AgentContext, 'world' | 'activeRecord' | 'announcer' | 'options'>;
  #choice: Chosen;
  #kept = true;
  #reached = false;
  #trouble = '';

  constructor(context: Pick<AgentContext, 'world' | 'activeRecord' | 'announcer' | 'options'>, first: Chosen) {
    this.#context = context;
    this.#choice = first;
    this.#show();
  }

  /** Which object assigns now. */
  chosen(choice: Chosen): void {
    const { world, announcer, activeRecord, options } = this.#context;
    const { missing } = this.#choice;
    this.#choice = choice;
    if (choice.carrier !== null && choice.wanted?.at !== 'absent') activeRecord.assigns(choice.carrier);
    world.log.info('assignment chosen', { carrier: choice.carrier, why: choice.why });
    if (choice.missing !== undefined && choice.missing !== missing) {
      world.log.error(choice.missing, { node: options.nodeName });
      announcer.say(choice.missing, 'KubeletConfigUnassignable');
    }
    this.#show();
  }

  /** Whether the server keeps what is reported there. */
  kept(kept: boolean): void {
    if (this.#kept === kept) return;
    this.#kept = kept;
    this.#show();
  }

  /** The server has answered. */
  reached(): void {
    if (this.#reached) return;
    this.#reached = true;
    if (this.#context.options.assignment === 'node') this.#context.activeRecord.assigns('node');
    this.#show();
  }

  /** The object cannot be watched at the moment. */
  trouble(text: string): void {
    if (this.#reached || this.#trouble === text) return;
    this.#trouble = text;
    this.#show();
  }

  #show(): void {
    const { carrier, why, missing } = this.#choice;
    const unseen = `, but it was not seen yet${this.#trouble === '' ? '' : `: ${this.#trouble}`}`;
    const dropped = ', but the API server drops its fields: DynamicKubeletConfig is off there, or it is 1.26 or newer';
    const rest = this.#reached ? (this.#kept ? '' : dropped) : carrier === null ? this.#trouble && `: ${this.#trouble}` : unseen;
    this.#context.activeRecord.carrier(carrier, missing ?? `${why}${rest}`);
  }
}
