// Runs recorded vectors against the core and the simulated cluster: npm run conformance -- [--vectors DIR]
// A line for each file and one for each case that failed, at last `N passed, M failed`; exit 1 when any failed.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { checkStory } from '../apps/kubectl-taintmgr/test/conformance/workloads.ts';
import { checks as coreChecks, runVectors } from '../packages/core/test/conformance/index.ts';
import { checkDeviceTaints } from '../packages/k8s-adapter/test/conformance/device-taints.ts';
import { checks as clusterChecks } from '../packages/sim-cluster/test/conformance/index.ts';

type Check = (line: string) => string | null;

/** The checks of files, by the name of their kind. */
const checks: Readonly<Record<string, Check>> = {
  ...coreChecks,
  ...clusterChecks,
  'device-taints': (line) => checkDeviceTaints(JSON.parse(line)),
  workloads: checkStory,
};
const ownCopies = [
  ...['packages/core', 'packages/k8s-adapter', 'packages/sim-cluster', 'apps/kubectl-taintmgr'],
].map((owner) => join(import.meta.dirname, `../${owner}/test/testdata/vectors`));

let folders: readonly string[] = ownCopies;
try {
  const { vectors } = parseArgs({ options: { vectors: { type: 'string' } } }).values;
  if (vectors !== undefined) folders = [vectors];
  for (const folder of folders) {
    if (!statSync(folder).isDirectory()) throw new Error(`${folder} is not a directory`);
  }
} catch (error) {
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`error: --vectors: ${message}\n`);
  process.exit(2);
}

/** The check of a file; its name may continue after that of its kind, as `workloads-held-out`. */
function checkOf(name: string): Check | undefined {
  const kinds = Object.keys(checks).filter(
    (kind) => name.startsWith(kind) && !/^[a-z]/.test(name.slice(kind.length)),
  );
  const [longest = ''] = kinds.sort((one, other) => other.length - one.length);
  return checks[longest];
}

const files = folders.flatMap((folder) =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.jsonl'))
    .sort()
    .map((name) => join(folder, name)),
);

let [passed, failed] = [0, 0];
for (const file of files) {
  const name = basename(file, '.jsonl');
  const check = checkOf(name);
  if (!check) {
    process.stdout.write(`${name}: left out, no check knows how to read it\n`);
    continue;
  }
  const result = runVectors(name, readFileSync(file, 'utf8'), check);
  passed += result.passed;
  failed += result.failures.length;
  process.stdout.write(`${name}: ${result.passed} passed, ${result.failures.length} failed\n`);
  for (const line of result.failures) process.stdout.write(`  ${line}\n`);
}
process.stdout.write(`${passed} passed, ${failed} failed\n`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
