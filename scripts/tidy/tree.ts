// The files of the repository as the checks see them, so that tests can make small trees of values.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Tree {
  /** Paths from the root of the repository, in order. */
  readonly files: readonly string[];
  read(file: string): string;
}

export interface Fault {
  readonly file: string;
  readonly text: string;
}

/** A line for each fault. */
export function faultLines(faults: readonly Fault[]): readonly string[] {
  return faults.map(({ file, text }) => `${file}: ${text}`);
}

export function treeOf(texts: Readonly<Record<string, string>>): Tree {
  return { files: Object.keys(texts).sort(), read: (file) => texts[file] ?? '' };
}

/** The files that git knows and does not ignore, as they are on disk. */
export function repository(root: string): Tree {
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  });
  const files = listed.trim().split('\n').sort();
  const texts = new Map<string, string>();
  const read = (file: string): string => {
    const text = texts.get(file) ?? readFileSync(join(root, file), 'utf8');
    texts.set(file, text);
    return text;
  };
  // Git still knows a file that is deleted and not yet committed.
  return { files: files.filter((file) => existsSync(join(root, file))), read };
}

export function sourcesOf(tree: Tree): readonly string[] {
  return tree.files.filter((file) => /\.(tsx?|mjs)$/.test(file));
}

/** The code with blanks where its comments were, line by line. */
export function withoutComments(code: string): string {
  return code.replace(/\/\*[\s\S]*?\*\/|(?<=^|[\s;,{}()])\/\/.*$/gm, (found) =>
    found.replace(/[^\n]/g, ' '),
  );
}
