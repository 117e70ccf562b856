// Which npm packages a program has in it: what esbuild reads when it bundles the program, and its page.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Metafile } from 'esbuild';

/** A package of others, as it is installed here. */
export interface BundledPackage {
  readonly name: string;
  readonly version: string;
  /** As its package.json says: an SPDX expression, or what else stands there. */
  readonly license: string;
  /** Where it is installed. */
  readonly folder: string;
}

const root = fileURLToPath(new URL('../..', import.meta.url));
const page = 'packages/page/src/browser/main.tsx';

/** What the programs are bundled from: files, from the root of the repository. */
export const programs = {
  controller: ['apps/controller/src/main.ts'],
  'kubectl-taintmgr': [
    'apps/kubectl-taintmgr/src/main.ts',
    'packages/k8s-adapter/src/kubeconfig/plugin-login.ts',
  ],
} as const;

/** What is bundled from `entries`, with the page that such a program holds; each version once, by name. */
export async function bundledPackages(
  entries: readonly string[],
): Promise<readonly BundledPackage[]> {
  const programs = await inputsOf(entries, 'node');
  const browser = await inputsOf([page], 'browser');
  const folders = [...programs, ...browser].flatMap((file) => folderOf(file) ?? []);
  const packages = [...new Set(folders)].map(packageIn);
  const byName = new Map(packages.map((one) => [`${one.name}@${one.version}`, one]));
  return [...byName.keys()].sort().flatMap((key) => byName.get(key) ?? []);
}

async function inputsOf(
  entries: readonly string[],
  platform: 'node' | 'browser',
): Promise<readonly string[]> {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: [...entries],
    bundle: true,
    write: false,
    metafile: true,
    outdir: 'none',
    format: 'esm',
    platform,
    jsx: 'automatic',
    jsxImportSource: 'preact',
    conditions: ['@taintmgr/source'],
    // It is built ahead: the page is bundled, what builds it is not.
    external: ['esbuild'],
    tsconfigRaw: '{}',
    logLevel: 'silent',
  });
  return usedInputs(metafile);
}

/** What something is left of in the bundle. */
function usedInputs({ outputs }: Metafile): readonly string[] {
  return Object.values(outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([file, { bytesInOutput }]) =>
      bytesInOutput > 0 ? [file] : [],
    ),
  );
}

/** `node_modules/yaml` of `node_modules/yaml/dist/index.js`; undefined for files of ours. */
function folderOf(file: string): string | undefined {
  return /^(.*\bnode_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1];
}

function packageIn(folder: string): BundledPackage {
  const { name, version, license } = JSON.parse(
    readFileSync(join(root, folder, 'package.json'), 'utf8'),
  );
  return { name, version, license: String(license ?? 'none'), folder: join(root, folder) };
}
