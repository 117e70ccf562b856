// Runs recorded vectors against the core: npm run conformance -- [--vectors DIR]
// A line for each file, at last `N passed, M failed`; exit 1 when any failed.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { checks, runVectors } from '../packages/core/test/conformance/index.ts';

const shownMax = 5;
const ownCopy = join(import.meta.dirname, '../packages/core/test/testdata/vectors');

let folder = ownCopy;
try {
  folder = parseArgs({ options: { vectors: { type: 'string' } } }).values.vectors ?? ownCopy;
  if (!statSync(folder).isDirectory()) throw new Error(`${folder} is not a directory`);
} catch (error) {
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`error: --vectors: ${message}\n`);
  process.exit(2);
}

let [passed, failed] = [0, 0];
for (const file of readdirSync(folder)
  .filter((name) => name.endsWith('.jsonl'))
  .sort()) {
  const name = basename(file, '.jsonl');
  if (!Object.hasOwn(checks, name)) {
    process.stdout.write(`${name}: left out, no check knows how to read it\n`);
    continue;
  }
  const result = runVectors(name, readFileSync(join(folder, file), 'utf8'));
  passed += result.passed;
  failed += result.failures.length;
  process.stdout.write(`${name}: ${result.passed} passed, ${result.failures.length} failed\n`);
  for (const line of result.failures.slice(0, shownMax)) process.stdout.write(`  ${line}\n`);
}
process.stdout.write(`${passed} passed, ${failed} failed\n`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
