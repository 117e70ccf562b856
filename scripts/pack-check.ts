// Packs every public package and asks publint and attw whether others could use it; the programs
// among them are unpacked elsewhere, with the dependencies that they name and no others, and have to
// answer --version and --help.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

const folders = ['packages', 'apps'].flatMap((parent) =>
  readdirSync(parent).map((name) => `${parent}/${name}`),
);

let failed = 0;
for (const folder of folders) {
  const manifest = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
  const { name, exports, bin = {}, dependencies = {} } = manifest;
  check(`publint ${name}`, 'publint', ['--strict', folder]);
  for (const program of Object.values<string>(bin)) {
    checkProgram(name, folder, program, Object.keys(dependencies));
  }
  if (exports) check(`attw ${name}`, 'attw', ['--pack', folder, '--profile', 'esm-only']);
}
process.stdout.write(`pack:check: ${folders.length} packages, ${failed} faults\n`);
process.exitCode = failed > 0 ? 1 : 0;

function check(title: string, command: string, args: readonly string[]): void {
  const result = spawnSync(command, args, { encoding: 'utf8' });
  if (result.status === 0) return;
  failed += 1;
  process.stdout.write(`${title}:\n${result.stdout}${result.stderr}\n`);
}

function checkProgram(
  name: string,
  folder: string,
  program: string,
  dependencies: readonly string[],
): void {
  const elsewhere = mkdtempSync(join(tmpdir(), 'taintmgr-pack-'));
  check(`npm pack ${name}`, 'npm', [
    'pack',
    '--silent',
    `./${folder}`,
    '--pack-destination',
    elsewhere,
  ]);
  const [tarball = ''] = readdirSync(elsewhere);
  check(`tar ${name}`, 'tar', ['xzf', join(elsewhere, tarball), '-C', elsewhere]);
  for (const dependency of dependencies) {
    const link = join(elsewhere, 'node_modules', dependency);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(resolve('node_modules', dependency), link);
  }
  const unpacked = join(elsewhere, 'package', program);
  for (const flag of ['--version', '--help']) {
    check(`${program} ${flag} of ${name}`, process.execPath, [unpacked, flag]);
  }
  if (program.endsWith('kubectl-taintmgr')) checkExplain(unpacked);
  rmSync(elsewhere, { recursive: true });
}

/** It must work as far as that is possible without a cluster. */
function checkExplain(program: string): void {
  const args = ['explain', 'node', 'n1', '--kubeconfig', 'missing.yaml'];
  const { stderr } = spawnSync(process.execPath, [program, ...args], { encoding: 'utf8' });
  if (/^error: --kubeconfig: .*missing\.yaml: no such file$/m.test(stderr)) return;
  failed += 1;
  process.stdout.write(`${program} ${args.join(' ')}:\n${stderr}\n`);
}
