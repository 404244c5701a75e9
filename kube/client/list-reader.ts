import type { readList } from './list-stream.ts';

let loading: Promise<{ readList: typeof readList }> | undefined;

/** What reads lists, loaded once, with the first of them: an agent watches single objects, and never has it. */
export const listReader = (): Promise<{ readList: typeof readList }> => (loading ??= import('./list-stream.ts'));
