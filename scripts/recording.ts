// Makes docs/demo.svg anew: the demo as a picture that moves. `npm run pictures` calls it.
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { recording } from '../tools/workbench/src/demo/recording.ts';
import { startSides } from '../tools/workbench/src/demo/side.ts';

const file = fileURLToPath(new URL('../docs/demo.svg', import.meta.url));
writeFileSync(file, recording(await startSides(1)));
process.stdout.write('docs/demo.svg\n');
