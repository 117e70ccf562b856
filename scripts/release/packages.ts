// The tarballs that go to the npm registry.
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { BundledPackage } from './bundled.ts';
import { noticesOf } from './licenses.ts';
import { run } from './run.ts';

const notices = 'THIRD-PARTY-NOTICES';

/** What a package.json has, as far as it is changed here. */
type Manifest = Readonly<Record<string, unknown>>;

export interface Packing {
  /** The folder of the package, built. */
  readonly folder: string;
  /** Where the tarball goes. */
  readonly to: string;
  /** `OWNER/NAME` on GitHub: npm compares the provenance with it. */
  readonly repository: string;
  /**
   * Of a program, what is bundled in it. All that it needs is, so whoever installs it is not sent for
   * anything else: its package.json names no dependencies, and the notices go with it.
   */
  readonly bundled?: readonly BundledPackage[] | undefined;
}

/** Packs what `npm pack` would; gives the path of the tarball. */
export function packPackage({ folder, to, repository, bundled }: Packing): string {
  const stage = mkdtempSync(join(tmpdir(), 'taintmgr-package-'));
  try {
    for (const { path } of pack(folder, '--dry-run').files) {
      mkdirSync(dirname(join(stage, path)), { recursive: true });
      cpSync(join(folder, path), join(stage, path));
    }
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const published = {
      ...publishedManifest(manifest, bundled !== undefined),
      ...from(repository, folder),
    };
    writeFileSync(join(stage, 'package.json'), `${JSON.stringify(published, null, 2)}\n`);
    if (bundled) writeFileSync(join(stage, notices), noticesOf(bundled));
    return join(to, pack(stage, '--pack-destination', to).filename);
  } finally {
    rmSync(stage, { recursive: true });
  }
}

/** What only serves the repository is left out, and of a program what is bundled. */
function publishedManifest(manifest: Manifest, isProgram: boolean): Manifest {
  const { scripts, devDependencies, dependencies, files, ...rest } = manifest;
  const shipped = Array.isArray(files) ? files : [];
  return isProgram
    ? { ...rest, files: [...shipped, notices] }
    : { ...rest, files: shipped, dependencies };
}

/** With the folder, by which npm makes the links of its README. */
function from(repository: string, directory: string): Manifest {
  const url = `git+https://github.com/${repository}.git`;
  return { repository: { type: 'git', url, directory } };
}

interface Packed {
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
}

function pack(folder: string, ...args: readonly string[]): Packed {
  const [packed] = JSON.parse(run(folder, 'npm', 'pack', '--json', '--ignore-scripts', ...args));
  return packed;
}
