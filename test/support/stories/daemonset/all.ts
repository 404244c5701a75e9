import { ownership } from './ownership.ts';
import { placement } from './placement.ts';
import { podsGoneWrong } from './pods.ts';
import { rollouts } from './rollouts.ts';
import { templates } from './templates.ts';
import type { Story } from './story.ts';

export const stories: readonly Story[] = [...placement, ...rollouts, ...templates, ...ownership, ...podsGoneWrong];
