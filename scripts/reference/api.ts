// The pages of docs/reference/api: what each entry point of the libraries exports, with signatures and doc comments.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { neededTypes } from '../api-changes.ts';
import { type Declaration, type Module, readModule } from './declarations.ts';
import { page, table } from './page.ts';

/** The libraries, in the order in which users meet them. */
const libraries = ['core', 'k8s-adapter', 'sim-cluster', 'api-server'] as const;

/** Entry points that are for our own packages alone: they have no page, and no promise. */
const internal: readonly string[] = ['@taintmgr/sim-cluster/server'];

/** An entry point of a library. */
interface Door {
  /** The name by which it is imported. */
  readonly name: string;
  readonly file: string;
  /** The name of its page, without `.md`. */
  readonly page: string;
}

/** A declaration where it stands. */
interface Found {
  readonly file: string;
  readonly declaration: Declaration;
}

/** A declaration on a page. */
interface Entry extends Found {
  /** The name that users import. */
  readonly name: string;
  readonly page: string;
  readonly anchor: string;
  /** The heading, which makes the anchor. */
  readonly heading: string;
  readonly group: string;
}

/** The page of a door: what it declares, and what other doors before it do. */
interface Sheet {
  readonly door: Door;
  readonly entries: readonly (Entry & { readonly isRepeated: boolean })[];
}

const modules = new Map<string, Module>();

/** The pages by their names. */
export function apiPages(): ReadonlyMap<string, string> {
  const { sheets, places } = laidOut();
  const index = page(
    'API of the libraries',
    'Entry points with what they export. A name that is not here is internal, and may change in any release.',
    table(
      ['import from', 'for'],
      sheets.map(({ door }) => [`[${door.name}](${door.page}.md)`, purposeOf(door)]),
    ),
  );
  const pages = sheets.map((sheet) => [`${sheet.door.page}.md`, sheetPage(sheet, places)] as const);
  return new Map([['README.md', index], ...pages]);
}

/** The exported names without a doc comment, and their members without one: `page: name`. */
export function undocumented(): readonly string[] {
  return laidOut().sheets.flatMap(({ door, entries }) =>
    entries
      .filter(({ isRepeated, group }) => !isRepeated && group !== neededTypes)
      .flatMap(({ name, declaration: { comment, silent } }) => [
        ...(comment === '' ? [`${door.name}: ${name}`] : []),
        ...silent.map((member) => `${door.name}: ${name}.${member}`),
      ]),
  );
}

function doors(): readonly Door[] {
  return libraries.flatMap((library) => {
    const { name, exports } = manifestOf(library);
    return Object.entries(exports).flatMap(([path, { '@taintmgr/source': source }]) =>
      source
        ? [
            {
              name: path.replace('.', name),
              file: join('packages', library, source),
              page: path.replace('.', library).replaceAll('/', '-'),
            },
          ]
        : [],
    );
  });
}

interface Manifest {
  readonly name: string;
  readonly exports: Readonly<Record<string, { readonly '@taintmgr/source'?: string }>>;
}

function manifestOf(library: string): Manifest {
  return JSON.parse(readFileSync(`packages/${library}/package.json`, 'utf8'));
}

function moduleOf(file: string): Module {
  const module = modules.get(file) ?? readModule(file, readFileSync(file, 'utf8'));
  modules.set(file, module);
  return module;
}

/** Every declaration has one place: the first door that exports it, or the first that needs it. */
function laidOut(): {
  readonly sheets: readonly Sheet[];
  readonly places: ReadonlyMap<string, Entry>;
} {
  const places = new Map<string, Entry>();
  const headings = new Map<string, Set<string>>();
  const place = (door: Door, name: string, found: Found, group: string): Entry => {
    const known = places.get(idOf(found));
    if (known) return known;
    const taken = headings.get(door.page) ?? new Set();
    headings.set(door.page, taken);
    const isTaken = taken.has(name.toLowerCase());
    const heading = isTaken ? `${name} (${found.declaration.kind})` : name;
    const anchor = heading.toLowerCase().replace(/[()]/g, '').replaceAll(' ', '-');
    taken.add(anchor);
    const entry = { ...found, name, page: door.page, anchor, heading, group };
    places.set(idOf(found), entry);
    return entry;
  };
  const open = doors().filter(({ name }) => !internal.includes(name));
  const exported = open.map((door) => {
    const entries = moduleOf(door.file).exports.flatMap(({ name, local, from, group }) => {
      const found = from === null ? find(door.file, local) : follow(door.file, from, local);
      if (found === null) return [];
      const isRepeated = places.has(idOf(found));
      return [{ ...place(door, name, found, group), name, group, isRepeated }];
    });
    return { door, entries };
  });
  const sheets = exported.map(({ door, entries }) => {
    const needed: (Entry & { readonly isRepeated: boolean })[] = [];
    const queue: Found[] = entries.filter(({ isRepeated }) => !isRepeated);
    for (const { file, declaration } of queue) {
      for (const name of declaration.uses) {
        const found = find(file, name);
        if (found === null || found.declaration.kind === 'const' || places.has(idOf(found)))
          continue;
        needed.push({
          ...place(door, found.declaration.name, found, neededTypes),
          isRepeated: false,
        });
        queue.push(found);
      }
    }
    return { door, entries: [...entries, ...needed] };
  });
  return { sheets, places };
}

function idOf({ file, declaration }: Found): string {
  return `${file}#${declaration.name}`;
}

/** The declaration that a name means in a file; null: it is none of ours. */
function find(file: string, name: string): Found | null {
  const { declarations, imports, exports } = moduleOf(file);
  const declaration = declarations.get(name);
  if (declaration) return { file, declaration };
  const origin = imports.get(name);
  if (origin) return follow(file, origin.from, origin.name);
  const other = exports.find((one) => one.name === name);
  return other?.from ? follow(file, other.from, other.local) : null;
}

function follow(file: string, from: string, name: string): Found | null {
  if (from.startsWith('.')) return find(join(dirname(file), from), name);
  const door = doors().find((one) => one.name === from);
  return door ? find(door.file, name) : null;
}

/** The first sentence of the comment at the top of a door. */
function purposeOf({ file }: Door): string {
  const { head } = moduleOf(file);
  return (/^.*?\.(?=\s|$)/s.exec(head)?.[0] ?? head).replace(/\s+/g, ' ').replace(/\.$/, '');
}

function sheetPage({ door, entries }: Sheet, places: ReadonlyMap<string, Entry>): string {
  const parts: string[] = [moduleOf(door.file).head];
  let last = '';
  for (const entry of entries) {
    if (entry.group !== last)
      parts.push(`## ${entry.group.replaceAll('\n', ' ').replace(/\.$/, '')}`);
    last = entry.group;
    parts.push(entry.isRepeated ? repeated(door, entry) : described(door, entry, places));
  }
  return page(`\`${door.name}\``, ...parts);
}

/** A name that an earlier door exports too. */
function repeated(door: Door, { name, heading, page: other, anchor }: Entry): string {
  const shown = name === heading ? name : heading;
  return `### ${name}\n\nThe same as [${shown}](${other === door.page ? '' : `${other}.md`}#${anchor}).`;
}

function described(
  door: Door,
  { name, heading, file, declaration }: Entry,
  places: ReadonlyMap<string, Entry>,
): string {
  const { comment, uses, name: own } = declaration;
  const code = declaration.code.replace(new RegExp(`^(\\w+) ${own}\\b`), `$1 ${name}`);
  const links = uses.flatMap((used) => {
    const found = find(file, used);
    const entry = found === null ? undefined : places.get(idOf(found));
    if (!entry || (entry.file === file && entry.declaration === declaration)) return [];
    return [
      `[${entry.name}](${entry.page === door.page ? '' : `${entry.page}.md`}#${entry.anchor})`,
    ];
  });
  return [
    `### ${heading}`,
    ...(comment === '' ? [] : [prose(comment)]),
    `\`\`\`ts\n${code}\n\`\`\``,
    ...(links.length > 0 ? [`Types: ${links.join(', ')}`] : []),
  ].join('\n\n');
}

/** The text of a comment, where Markdown would read tags; lines of code stay as they are. */
function prose(comment: string): string {
  return comment
    .split(/(`[^`]*`|^ {4}.*$)/m)
    .map((part) => (/^(?:`| {4})/.test(part) ? part : part.replaceAll('<', '&lt;')))
    .join('');
}
