// What the linter cannot say about this repository: one line for each fault, exit 1 if there is any.
// npm run tidy -- --write writes docs/files.md and the floors in ARCHITECTURE.md first.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { floorsFaults, guideFaults, withFloors } from './tidy/architecture.ts';
import { fileList, listFile, staleList, withoutHead } from './tidy/file-list.ts';
import { importsUp } from './tidy/floors.ts';
import { circles } from './tidy/imports.ts';
import { oldPictures } from './tidy/pictures.ts';
import { hasDependencies, impure } from './tidy/purity.ts';
import { namesAMachine, tooLong } from './tidy/texts.ts';
import { repository, sourcesOf } from './tidy/tree.ts';
import { replacedPhrases, unusedWords } from './tidy/words.ts';

const checks = [
  tooLong,
  importsUp,
  circles,
  impure,
  hasDependencies,
  namesAMachine,
  replacedPhrases,
  unusedWords,
  withoutHead,
  staleList,
  guideFaults,
  floorsFaults,
  oldPictures,
];

const root = fileURLToPath(new URL('..', import.meta.url));
process.chdir(root);
if (process.argv.includes('--write')) {
  writeFileSync(listFile, fileList(repository(root)));
  writeFileSync('ARCHITECTURE.md', withFloors(readFileSync('ARCHITECTURE.md', 'utf8')));
}

const tree = repository(root);
const faults = checks.flatMap((check) => check(tree));
for (const { file, text } of faults) process.stdout.write(`${file}: ${text}\n`);
process.stdout.write(`tidy: ${sourcesOf(tree).length} source files, ${faults.length} faults\n`);
process.exitCode = faults.length > 0 ? 1 : 0;
