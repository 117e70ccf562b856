// Packs every public package and asks publint and attw whether others could use it.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

const folders = ['packages', 'apps'].flatMap((parent) =>
  readdirSync(parent).map((name) => `${parent}/${name}`),
);

let failed = 0;
for (const folder of folders) {
  const { name, exports } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
  check(`publint ${name}`, 'publint', ['--strict', folder]);
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
