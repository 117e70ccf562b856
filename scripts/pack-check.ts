// Packs every public package and asks publint and attw whether others could use it; the programs
// among them are unpacked elsewhere, with the dependencies that they name and no others, and have to
// answer --version and --help. The types of the libraries have to compile in a strict program that
// checks them too (skipLibCheck: false).
import { spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';

const folders = ['packages', 'apps'].flatMap((parent) =>
  readdirSync(parent).map((name) => `${parent}/${name}`),
);

let failed = 0;
for (const folder of folders) {
  const { name, exports, bin = {}, dependencies = {} } = manifestOf(folder);
  check(`publint ${name}`, 'publint', ['--strict', folder]);
  for (const program of Object.values(bin)) {
    checkProgram(name, folder, program, Object.keys(dependencies));
  }
  if (exports) check(`attw ${name}`, 'attw', ['--pack', folder, '--profile', 'esm-only']);
}
checkTypes();
process.stdout.write(`pack:check: ${folders.length} packages, ${failed} faults\n`);
process.exitCode = failed > 0 ? 1 : 0;

function check(title: string, command: string, args: readonly string[]): void {
  const result = spawnSync(command, args, { encoding: 'utf8' });
  if (result.status === 0) return;
  failed += 1;
  process.stdout.write(`${title}:\n${result.stdout}${result.stderr}\n`);
}

interface Manifest {
  readonly name: string;
  readonly exports?: Readonly<Record<string, { readonly types?: string }>>;
  readonly bin?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
}

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
}

function checkProgram(
  name: string,
  folder: string,
  program: string,
  dependencies: readonly string[],
): void {
  const elsewhere = mkdtempSync(join(tmpdir(), 'taintmgr-pack-'));
  const unpacked = join(unpack(folder, elsewhere), program);
  link(elsewhere, dependencies);
  for (const flag of ['--version', '--help']) {
    check(`${program} ${flag} of ${name}`, process.execPath, [unpacked, flag]);
  }
  if (program.endsWith('kubectl-taintmgr')) checkExplain(unpacked);
  rmSync(elsewhere, { recursive: true });
}

/** The folder of the package, unpacked below another folder. */
function unpack(folder: string, elsewhere: string): string {
  const to = join(elsewhere, basename(folder));
  mkdirSync(to, { recursive: true });
  check(`npm pack ${folder}`, 'npm', ['pack', '--silent', `./${folder}`, '--pack-destination', to]);
  const [tarball = ''] = readdirSync(to);
  check(`tar ${folder}`, 'tar', ['xzf', join(to, tarball), '-C', to, '--strip-components=1']);
  return to;
}

function link(elsewhere: string, dependencies: readonly string[]): void {
  for (const dependency of dependencies) {
    const to = join(elsewhere, 'node_modules', dependency);
    mkdirSync(dirname(to), { recursive: true });
    symlinkSync(resolve('node_modules', dependency), to);
  }
}

/** Imports every entry point; the adapter alone may need the types of Node. */
function checkTypes(): void {
  const elsewhere = mkdtempSync(join(tmpdir(), 'taintmgr-types-'));
  const scope = join(elsewhere, 'node_modules/@taintmgr');
  const libraries = folders.filter((folder) => manifestOf(folder).exports?.['.']?.types);
  const files = libraries.map((folder) => {
    const { name, exports = {}, dependencies = {} } = manifestOf(folder);
    unpack(folder, scope);
    link(
      elsewhere,
      Object.keys(dependencies).filter((one) => !one.startsWith('@taintmgr/')),
    );
    const doors = Object.keys(exports).filter((door) => exports[door]?.types);
    const lines = doors.map(
      (door, at) => `export * as n${at} from '${door.replace('.', name)}';\n`,
    );
    const file = join(elsewhere, `${basename(folder)}.ts`);
    writeFileSync(file, lines.join(''));
    return file;
  });
  const alone = files.filter((file) => basename(file) !== 'k8s-adapter.ts');
  const strict = [
    '--strict',
    '--exactOptionalPropertyTypes',
    '--skipLibCheck',
    'false',
    '--noEmit',
    '--ignoreConfig',
  ];
  for (const module of [['nodenext'], ['esnext', '--moduleResolution', 'bundler']]) {
    const options = [...strict, '--target', 'es2023', '--module', ...module];
    check(`types, ${module}`, 'tsc', [...options, '--types', '', ...alone]);
    const node = ['--typeRoots', resolve('node_modules/@types'), '--types', 'node'];
    check(`types with @types/node, ${module}`, 'tsc', [...options, ...node, ...files]);
  }
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
