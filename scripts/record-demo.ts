import { writeFileSync } from 'node:fs';
import { castOf, playDemo } from './demo/recording.ts';
import { terminalSvg } from './demo/terminal-svg.ts';

/** `npm run demo:record`: runs the demo and stores its output with times, and a picture of it, for README. */
const recorded = await playDemo();
writeFileSync('docs/demo.cast', castOf(recorded));
writeFileSync('docs/demo.svg', terminalSvg(recorded));
console.log(`docs/demo.cast, docs/demo.svg: ${recorded.length} lines`);
