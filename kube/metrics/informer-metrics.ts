import { Counter } from 'prom-client';
import type { Registry } from 'prom-client';
import type { InformerOptions } from '../cache/shared-informer.ts';

/** Mistakes of those who read caches. The field crashes on them and has no names for it, so these are ours. */
export function informerMetrics(registry: Registry): Required<Pick<InformerOptions, 'onHandlerFailure' | 'onIndexFailure'>> {
  const registers = [registry];
  const handlers = new Counter({
    name: 'dkc_informer_handler_failures_total',
    help: 'Times that a handler of cache events threw, by who registered it.',
    labelNames: ['handler'] as const,
    registers,
  });
  const indexes = new Counter({
    name: 'dkc_informer_index_failures_total',
    help: 'Objects that an index function threw on, and that the index does not find.',
    labelNames: ['index'] as const,
    registers,
  });
  return { onHandlerFailure: (handler) => handlers.inc({ handler }), onIndexFailure: (index) => indexes.inc({ index }) };
}
