// Words that readers stumble over: none in identifiers and file names, few of them in texts.
import { type Fault, type Tree, withoutComments } from './tree.ts';
import { replaced, type Unused, unused } from './wording.ts';

export function unusedWords(tree: Tree, list: readonly Unused[] = unused): readonly Fault[] {
  const byWord = new Map(
    list.flatMap((entry) => entry.words.map((word) => [word, entry] as const)),
  );
  return tree.files.filter(isSearched).flatMap((file) => {
    const text = tree.read(file);
    const said = isTest(file) ? [] : inText(file, text, byWord);
    const found = [...inFileName(file, byWord), ...said];
    return [...new Set(found)].map((what) => ({ file, text: what }));
  });
}

export function replacedPhrases(tree: Tree): readonly Fault[] {
  return tree.files.filter(isShown).flatMap((file) => {
    const text = tree.read(file);
    const shown = /\.(ts|js)$/.test(file) ? withoutComments(text) : text;
    // A sentence goes on in the next line, and in the next part of a text.
    const line = shown.replace(/['`] \+\s*['`]/g, '').replace(/\s+/g, ' ');
    return replaced.flatMap(({ phrase, instead }) => {
      const found = phrase.exec(line);
      const fault = `says "${found?.[0]}"; say "${instead}" (scripts/tidy/wording.ts)`;
      return found ? [{ file, text: fault }] : [];
    });
  });
}

/** Not what is recorded for tests: goldens, vectors and inputs hold what others have written. */
function isSearched(file: string): boolean {
  if (file.startsWith('scripts/tidy/') || file === 'scripts/test/tidy.test.ts') return false;
  return /\.(ts|mjs|md|yaml|html|js)$|\/testdata\/.*\.txt$/.test(file) && !/CHANGELOG/.test(file);
}

/** Of tests only the names count; what they print is in test data. */
function isTest(file: string): boolean {
  return /\/test\//.test(file) && !file.includes('/testdata/');
}

/** What people see: sources, documents, manifests and transcripts. */
function isShown(file: string): boolean {
  if (/\/test\//.test(file) && !file.includes('/testdata')) return false;
  // It is made of changesets, which are looked at when they are written.
  if (file.endsWith('CHANGELOG.md')) return false;
  return /^(apps|packages|docs|deploy|\.changeset)\/.*\.(ts|js|html|md|yaml|txt)$|^[^/]+\.md$/.test(
    file,
  );
}

type Words = ReadonlyMap<string, Unused>;

function inFileName(file: string, words: Words): readonly string[] {
  return file.split(/[/.-]/).flatMap((part) => {
    const entry = words.get(part.toLowerCase());
    return entry ? [`is named "${part}"; say "${entry.instead}"`] : [];
  });
}

/** Parts of identifiers, and words of texts and comments. */
function inText(file: string, text: string, words: Words): readonly string[] {
  const names = /\.ts$/.test(file) ? withoutStrings(withoutComments(text)) : null;
  return Array.from(text.matchAll(/[A-Za-z_$]+/g)).flatMap(({ 0: token, index }) => {
    const isName = names?.startsWith(token, index) ?? false;
    const parts = token.split(/_|\$|(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/);
    return parts.flatMap((part) => {
      const entry = words.get(part.toLowerCase());
      if (!entry || (entry.where === 'names' && !isName)) return [];
      const line = text.slice(0, index).split('\n').length;
      return [`line ${line} says "${token}"; say "${entry.instead}" (scripts/tidy/wording.ts)`];
    });
  });
}

function withoutStrings(code: string): string {
  const strings = /'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g;
  return code.replace(strings, (found) => found.replace(/[^\n]/g, ' '));
}
