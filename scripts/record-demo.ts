import { writeFileSync } from 'node:fs';
import { castOf, playDemo } from './demo/recording.ts';
import { terminalSvg } from './demo/terminal-svg.ts';

/** `npm run demo:record`: runs the demo and stores its output with times, and a picture of it, for README. */
const said = await playDemo();
writeFileSync('docs/demo.cast', castOf(said));
writeFileSync('docs/demo.svg', terminalSvg(said));
console.log(`docs/demo.cast, docs/demo.svg: ${said.length} lines`);
