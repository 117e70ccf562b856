// The npm packages in a program: those that esbuild reads when it bundles the program and its page.

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Metafile } from 'esbuild';
import satisfies from 'spdx-satisfies';

/** A third-party package, as it is installed here. */
export interface BundledPackage {
  readonly name: string;
  readonly version: string;
  /** The license in its package.json: an SPDX expression, or other text. */
  readonly license: string;
  /** The folder of the installation. */
  readonly folder: string;
  /** The hash in package-lock.json: `sha512-BASE64`. */
  readonly integrity: string;
}

const root = fileURLToPath(new URL('../..', import.meta.url));
const page = 'packages/page/src/browser/main.tsx';

/** The entry points of the bundled programs: files, from the root of the repository. */
export const programs = {
  controller: ['apps/controller/src/main.ts'],
  'kubectl-taintmgr': [
    'apps/kubectl-taintmgr/src/main.ts',
    'packages/k8s-adapter/src/kubeconfig/plugin-login.ts',
  ],
} as const;

/**
 * The packages bundled from `entries`, with the page that such a program holds; each version once,
 * by name.
 */
export async function bundledPackages(
  entries: readonly string[],
): Promise<readonly BundledPackage[]> {
  const programs = await inputsOf(entries, 'node');
  const browser = await inputsOf([page], 'browser');
  const folders = [...programs, ...browser].flatMap((file) => folderOf(file) ?? []);
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const packages = [...new Set(folders)].map((folder) => packageIn(folder, lock));
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
    // The page is built ahead and bundled; its builder is not.
    external: ['esbuild'],
    tsconfigRaw: '{}',
    logLevel: 'silent',
  });
  return usedInputs(metafile);
}

/** The inputs that contribute to the bundle. */
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

interface Lock {
  /** By the folders of the installation. */
  readonly packages: Readonly<Record<string, { readonly integrity?: string }>>;
}

function packageIn(folder: string, { packages }: Lock): BundledPackage {
  const { name, version, license } = JSON.parse(
    readFileSync(join(root, folder, 'package.json'), 'utf8'),
  );
  const integrity = packages[folder]?.integrity;
  if (!integrity) throw new Error(`package-lock.json has no hash of ${folder}`);
  return {
    name,
    version,
    license: String(license ?? 'none'),
    folder: join(root, folder),
    integrity,
  };
}

/** SPDX identifiers of licenses that a program under Apache-2.0 may bundle. */
const allowedLicenses: readonly string[] = [
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'Unlicense',
];

/** One line for each package with a license that is not allowed or unknown to SPDX. */
export function licenseFaults(packages: readonly BundledPackage[]): readonly string[] {
  return packages
    .filter(({ license }) => !isAllowed(license))
    .map(
      ({ name, version, license }) =>
        `${name} ${version}: license "${license}", want one of ${allowedLicenses.join(', ')}`,
    );
}

function isAllowed(license: string): boolean {
  try {
    return satisfies(license, [...allowedLicenses]);
  } catch {
    // The text is no SPDX expression.
    return false;
  }
}

/** The text that a program comes with: each package in it, with its license as the package has it. */
export function noticesOf(packages: readonly BundledPackage[]): string {
  const head =
    'This program has the following packages in it, under the licenses that follow each of them.';
  return `${[head, ...packages.map(noticeOf)].join(`\n\n${'-'.repeat(78)}\n\n`)}\n`;
}

function noticeOf({ name, version, license, folder }: BundledPackage): string {
  const texts = readdirSync(folder)
    .filter((file) => /^(licen[cs]e|notice|copying)\b/i.test(file))
    .sort()
    .map((file) => readFileSync(join(folder, file), 'utf8').replaceAll('\r\n', '\n').trim());
  const none = `(The package has no file with its license; its package.json says ${license}.)`;
  const text = texts.length > 0 ? texts.join('\n\n') : none;
  return `${name} ${version} (${license})\nhttps://www.npmjs.com/package/${name}\n\n${text}`;
}

/** A program and its sources. */
interface Program {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly packages: readonly BundledPackage[];
  /** The version of the bundled Node. */
  readonly node: string;
  /** When its sources were committed: RFC 3339. */
  readonly committed: string;
}

/** The contents of a program: a CycloneDX document, equal for equal contents. */
export function sbomOf({ name, version, description, packages, node, committed }: Program): object {
  const ref = `${name}@${version}`;
  const license = licensesOf('Apache-2.0');
  const own = { 'bom-ref': ref, type: 'application', name, version, description, ...license };
  const components = [...packages.map(componentOf), nodeOf(node)];
  const content = {
    $schema: 'http://cyclonedx.org/schema/bom-1.5.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: { timestamp: committed, component: { ...own, purl: purlOf(name, version) } },
    components,
    dependencies: [{ ref, dependsOn: components.map((one) => one['bom-ref']).sort() }],
  };
  return { ...content, serialNumber: serialNumberOf(content) };
}

function componentOf({ name, version, license, integrity }: BundledPackage) {
  const [, base64 = ''] = /^sha512-(\S+)$/.exec(integrity) ?? [];
  return {
    'bom-ref': `${name}@${version}`,
    type: 'library',
    name,
    version,
    purl: purlOf(name, version),
    hashes: [{ alg: 'SHA-512', content: Buffer.from(base64, 'base64').toString('hex') }],
    ...licensesOf(license),
  };
}

function nodeOf(version: string) {
  return {
    'bom-ref': `node@${version}`,
    type: 'platform',
    name: 'node',
    version,
    purl: `pkg:generic/node@${version}`,
    // Scanners find the vulnerabilities of Node by this name.
    cpe: `cpe:2.3:a:nodejs:node.js:${version}:*:*:*:*:*:*:*`,
    ...licensesOf('MIT'),
  };
}

function purlOf(name: string, version: string): string {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`;
}

function licensesOf(license: string): object {
  const isId = /^[\w.-]+$/.test(license);
  return { licenses: [isId ? { license: { id: license } } : { expression: license }] };
}

/** The same for the same content, in the form of a UUID (RFC 9562, version 8). */
function serialNumberOf(content: object): string {
  const hash = createHash('sha256').update(JSON.stringify(content)).digest('hex');
  const parts = [
    hash.slice(0, 8),
    hash.slice(8, 12),
    `8${hash.slice(13, 16)}`,
    `8${hash.slice(17, 20)}`,
    hash.slice(20, 32),
  ];
  return `urn:uuid:${parts.join('-')}`;
}
