import { ownership } from './ownership.ts';
import { podsGoneWrong } from './pods.ts';
import { rollouts } from './rollouts.ts';
import { scaling } from './scaling.ts';
import { templates } from './templates.ts';
import type { Story } from '../story.ts';
import type { Stage } from './stage.ts';

export const stories: readonly Story<Stage>[] = [...scaling, ...rollouts, ...templates, ...ownership, ...podsGoneWrong];
