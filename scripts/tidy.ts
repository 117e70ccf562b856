// Checks rules of this repository that the linter cannot: one line for each fault, exit 1 if there
// is any. npm run tidy -- --write writes the floors in ARCHITECTURE.md first; --files [FOLDER]
// lists what each file is for.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { floorsFaults, guideFaults, withFloors } from './tidy/architecture.ts';
import { hasDependencies, impure, namesAMachine, tooLong } from './tidy/file-rules.ts';
import { importsUp } from './tidy/floors.ts';
import { fileList, withoutHead } from './tidy/heads.ts';
import { circles } from './tidy/imports.ts';
import { oldPictures } from './tidy/pictures.ts';
import { faultLines, repository, sourcesOf } from './tidy/tree.ts';

const checks = [
  tooLong,
  importsUp,
  circles,
  impure,
  hasDependencies,
  namesAMachine,
  withoutHead,
  guideFaults,
  floorsFaults,
  oldPictures,
];

const root = fileURLToPath(new URL('..', import.meta.url));
process.chdir(root);
if (process.argv.includes('--write')) {
  writeFileSync('ARCHITECTURE.md', withFloors(readFileSync('ARCHITECTURE.md', 'utf8')));
}

const tree = repository(root);
const files = process.argv.indexOf('--files');
if (files > 0) {
  process.stdout.write(fileList(tree, process.argv[files + 1]));
  process.exit();
}
const faults = checks.flatMap((check) => check(tree));
for (const line of faultLines(faults)) process.stdout.write(`${line}\n`);
process.stdout.write(`tidy: ${sourcesOf(tree).length} source files, ${faults.length} faults\n`);
process.exitCode = faults.length > 0 ? 1 : 0;
