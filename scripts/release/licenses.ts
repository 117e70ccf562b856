// What licenses the packages in our programs may have, and the notices that these ask for.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import satisfies from 'spdx-satisfies';
import type { BundledPackage } from './bundled.ts';

/** SPDX identifiers of licenses under which a program under Apache-2.0 may pass on what it has in it. */
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

/** One line for each package whose license is not allowed, or is none that SPDX knows. */
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
    // It is no SPDX expression.
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
