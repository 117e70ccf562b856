// Lists what each source file says at its head that it is for: npm run tidy -- --files [FOLDER]
import { type Fault, sourcesOf, type Tree } from './tree.ts';

/** The files that must state their purpose: no tests, no test data, no settings of tools. */
function listed(tree: Tree): readonly string[] {
  const rooms = /^(packages|apps|tools)\/[^/]+\/(src|scripts)\/|^(scripts|bench)\//;
  return sourcesOf(tree).filter((file) => rooms.test(file) && !file.includes('/test/'));
}

export function withoutHead(tree: Tree): readonly Fault[] {
  return listed(tree)
    .filter((file) => head(file, tree.read(file)) === null)
    .map((file) => ({
      file,
      text: 'does not say at its head what it is for (a comment, one sentence)',
    }));
}

/** A line a file: its path and the first sentence of its first comment. `under`: the folder to list, '' for all. */
export function fileList(tree: Tree, under = ''): string {
  return listed(tree)
    .filter((file) => file.startsWith(under))
    .map((file) => `${file}: ${head(file, tree.read(file)) ?? ''}\n`)
    .join('');
}

const comment = /^(?:\/\*\*[\s\S]*?\*\/|\/\/.*(?:\n\/\/.*)*)/gm;
const declaration =
  /^(export )?(?:async )?(?:abstract )?(class|function\*?|interface|type|const|let) (\w+)/;

/**
 * The first sentence of the comment that says what the file is for: the one at its top, else that
 * of the declaration the file is named after, of its class, or of what follows the imports.
 */
export function head(file: string, code: string): string | null {
  const text = code.replace(/^#!.*\n/, '');
  const found = commentOfFile(text) ?? commentOfNamesake(file, text) ?? commentAfterImports(text);
  return found === null ? null : firstSentence(found);
}

/** At the top, and not of a declaration that stands there. */
function commentOfFile(text: string): string | null {
  const found = firstComment(text);
  if (found === null || found.startsWith('//')) return found;
  return declaration.test(text.slice(found.length + 1)) ? null : found;
}

function firstComment(text: string): string | null {
  const [found] = text.matchAll(comment);
  return found?.index === 0 ? found[0] : null;
}

/** `taint-clock` is the file of TaintClock, `zones` that of Zone. */
function commentOfNamesake(file: string, text: string): string | null {
  const name = plain(file.replace(/^.*\//, '').replace(/\.\w+$/, ''));
  const declared = Array.from(text.matchAll(comment), ({ 0: found, index }) => {
    const [, exported, kind, of = ''] =
      declaration.exec(text.slice(index + found.length + 1)) ?? [];
    return { found, of: plain(of), isClass: kind === 'class' && exported !== undefined };
  });
  const namesake =
    declared.find(({ of }) => of === name) ??
    declared.find(({ of, isClass }) => isClass && of.endsWith(name)) ??
    declared.find(({ isClass }) => isClass);
  return namesake?.found ?? null;
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll('-', '').replace(/s$/, '');
}

function commentAfterImports(text: string): string | null {
  const imports = /^(?:\s*(?:import|export \*|export (?:type )?\{)[^;]*;\n)+/;
  return firstComment(text.replace(imports, '').trimStart());
}

function firstSentence(text: string): string {
  const [paragraph = ''] = text
    .replace(/^\/\*\*|\*\/$/g, '')
    .replace(/^ *(?:\*|\/\/) ?/gm, '')
    .trim()
    .split(/\n\s*\n|\n(?=- )/);
  const sentence = /^.*?[^.]\.(?=\n|\s+[A-Z`]|$)/s.exec(paragraph)?.[0] ?? paragraph;
  return sentence.replace(/\s+/g, ' ').trim();
}
