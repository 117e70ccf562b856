// The difference between two states of docs/reference/api, the report of what the libraries export.

/** Declarations, as `page: name`. */
export interface ApiChanges {
  /** Names that are gone, and declarations that differ: a program that uses them may break. */
  readonly broken: readonly string[];
  /** New names, and declarations that only got optional members. */
  readonly added: readonly string[];
}

/** The pages of a report by their names. */
type Report = ReadonlyMap<string, string>;

interface Declared {
  readonly page: string;
  readonly name: string;
  /** False for a type that exported declarations need and that has no name outside. */
  readonly isExported: boolean;
  /** The lines of its code without comments; empty where another page declares it. */
  readonly lines: readonly string[];
}

/** The changes from one report to the next. Comments and breaks of lines do not count. */
export function apiChanges(before: Report, after: Report): ApiChanges {
  const [old, now] = [declaredIn(before), declaredIn(after)];
  const pairs = old.map((last) => ({ last, next: sameIn(now, last) }));
  const broken = pairs.flatMap(({ last, next }) => {
    if (!next) return last.isExported ? [`${idOf(last)} (removed)`] : [];
    const isBroken = !isEqual(last.lines, withoutOptional(last.lines, next.lines));
    return isBroken ? [`${idOf(next)} (changed)`] : [];
  });
  const grown = pairs.flatMap(({ last, next }) =>
    next && !isEqual(last.lines, next.lines) && !broken.includes(`${idOf(next)} (changed)`)
      ? [`${idOf(next)} (optional members)`]
      : [],
  );
  const fresh = now.filter((one) => one.isExported && !sameIn(old, one));
  return { broken, added: [...fresh.map((one) => `${idOf(one)} (new)`), ...grown] };
}

function declaredIn(report: Report): readonly Declared[] {
  return Array.from(report).flatMap(([page, text]) =>
    text.split(/^## /m).flatMap((group) =>
      group
        .split(/^### /m)
        .slice(1)
        .map((section) => ({
          page: page.replace(/\.md$/, ''),
          name: section.slice(0, section.indexOf('\n')),
          isExported: !group.startsWith(neededTypes),
          lines: linesOf(/^```ts\n(.*?)^```$/ms.exec(section)?.[1] ?? ''),
        })),
    ),
  );
}

/** The heading above types that have no name outside. */
export const neededTypes = 'Types that these need';

function linesOf(code: string): readonly string[] {
  return code
    .replace(/\/\*.*?\*\//gs, '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('//'));
}

/**
 * The same name on the same page. A type without a name outside may have got one, or have moved to
 * another page; other types there may have its name.
 */
function sameIn(declared: readonly Declared[], one: Declared): Declared | undefined {
  const named = declared.filter(({ name }) => name === one.name);
  const here = named.filter(({ page }) => page === one.page);
  const same = here.find(({ isExported }) => isExported === one.isExported);
  if (same || one.isExported) return same;
  const others = here.length > 0 ? here : named.filter(({ lines }) => lines.length > 0);
  return others.find(({ lines }) => isEqual(lines, one.lines)) ?? others[0];
}

function idOf({ page, name }: Declared): string {
  return `${page}: ${name}`;
}

/** A declaration that another page has now, or had, is the same. */
function isEqual(a: readonly string[], b: readonly string[]): boolean {
  return a.length === 0 || b.length === 0 || plain(a) === plain(b);
}

/** Without blanks, and without the commas that come with breaks of lines. */
function plain(lines: readonly string[]): string {
  return lines
    .join('')
    .replace(/\s+/g, '')
    .replace(/,(?=[)\]}>])/g, '');
}

/** The new lines without those of optional members that the old ones did not have. */
function withoutOptional(old: readonly string[], now: readonly string[]): readonly string[] {
  const isOptional = /^(?:readonly )?\w+\?[:(].*;$/;
  return now.filter((line) => old.includes(line) || !isOptional.test(line));
}
