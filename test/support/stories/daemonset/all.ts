import { ownership } from './ownership.ts';
import { placement } from './placement.ts';
import { podsGoneWrong } from './pods.ts';
import { rollouts } from './rollouts.ts';
import { templates } from './templates.ts';
import type { Story } from '../story.ts';
import type { Stage } from './stage.ts';

export const stories: readonly Story<Stage>[] = [...placement, ...rollouts, ...templates, ...ownership, ...podsGoneWrong];
