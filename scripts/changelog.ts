// CHANGELOG.md: one section for each version, the newest first, made of the changesets since the
// last one.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

const bumps = ['major', 'minor', 'patch'] as const;

/** A changeset that users notice. */
export interface Change {
  readonly bump: (typeof bumps)[number];
  /** Without the scope: `core`. */
  readonly packages: readonly string[];
  readonly text: string;
}

/** A text that begins so says what breaks: before 1.0 a minor version may. */
const breaking = /^breaking:\s*/i;
const kinds: readonly (readonly [string, (change: Change) => boolean])[] = [
  ['Breaking changes', isBreaking],
  ['Changes', (change) => change.bump === 'minor' && !isBreaking(change)],
  ['Fixes', (change) => change.bump === 'patch'],
];

export function isBreaking({ bump, text }: Change): boolean {
  return bump === 'major' || breaking.test(text);
}

/** The changesets of `folder`, without those that say that users notice nothing. */
export function readChanges(folder: string): readonly Change[] {
  return globSync('*.md', { cwd: folder })
    .sort()
    .flatMap((file) => parseChangeset(join(folder, file)) ?? []);
}

/** Throws if the file is no changeset, says nothing, or breaks something in a patch. */
function parseChangeset(file: string): Change | null {
  const [, head = '', body] =
    /^---\n([\s\S]*?)---\n?([\s\S]*)$/.exec(readFileSync(file, 'utf8')) ?? [];
  if (body === undefined) throw new Error(`${file}: want --- around the packages, then the text`);
  const packages: Readonly<Record<string, string>> = parse(head) ?? {};
  const bump = bumps.find((one) => Object.values(packages).includes(one));
  if (bump === undefined) return null;
  const text = body.trim();
  if (text === '') throw new Error(`${file}: want a sentence for CHANGELOG.md`);
  if (bump === 'patch' && breaking.test(text)) {
    throw new Error(`${file}: got patch for a breaking change, want minor or major`);
  }
  const names = Object.keys(packages).map((name) => name.replace(/^@[^/]+\//, ''));
  return { bump, packages: names.sort(), text };
}

/** `changelog` with a section for `version`, before all others. */
export function withSection(
  changelog: string,
  version: string,
  date: string,
  changes: readonly Change[],
): string {
  const groups = kinds.flatMap(([title, isOfKind]) => {
    const items = changes.filter(isOfKind).map(itemOf).sort();
    return items.length === 0 ? [] : [`### ${title}\n\n${items.join('\n')}\n`];
  });
  const section = [`${headingOf(version, date)}\n`, ...groups, ''].join('\n');
  return changelog.replace(/^## /m, (next) => `${section}${next}`);
}

function itemOf({ text, packages }: Change): string {
  const [first = '', ...more] = text.replace(breaking, '').split('\n');
  const [last = first, ...before] = more.toReversed();
  const named = `(${packages.join(', ')})`;
  const lines =
    more.length === 0 ? [`${first} ${named}`] : [first, ...before.reverse(), `${last} ${named}`];
  return `- ${lines.map((line, at) => (at === 0 || line === '' ? line : `  ${line}`)).join('\n')}`;
}

/** `changelog` with another date for `version`. */
export function withDate(changelog: string, version: string, date: string): string {
  const { heading } = sectionOf(changelog, version);
  return changelog.replace(heading, headingOf(version, date));
}

function headingOf(version: string, date: string): string {
  return `## ${version} - ${date}`;
}

/** The section of `version`; throws if there is none. */
export function sectionOf(changelog: string, version: string): { heading: string; text: string } {
  const sections = changelog.split(/^(?=## )/m);
  const section = sections.find((one) => one.startsWith(`## ${version} - `));
  if (section === undefined) {
    throw new Error(`CHANGELOG.md has no section "## ${version} - DATE": run npm run version`);
  }
  const [heading = '', ...lines] = section.split('\n');
  return { heading, text: `${lines.join('\n').trim()}\n` };
}

/**
 * The section of `version` for its page on GitHub, which breaks lines where the text does, and where
 * links lead to the files of its tag. `repository` is `OWNER/NAME`.
 */
export function releaseNotes(changelog: string, version: string, repository: string): string {
  const files = `https://github.com/${repository}/blob/v${version}/`;
  return sectionOf(changelog, version)
    .text.replace(/(?<=\S)\n {2}(?=[^\s-])/g, ' ')
    .replace(/\]\((?![a-z]+:|#)([^)\s]+)\)/g, (_, path) => `](${files}${path})`);
}
