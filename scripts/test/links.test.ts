import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const pages = globSync('{*.md,{docs,deploy,apps,packages,examples,action}/**/*.md}', {
  cwd: root,
  exclude: (path) => path.includes('node_modules'),
});

/** Links of a page that lead nowhere here; those to other hosts are nobody's who is offline. */
function broken(file: string, text: string): readonly string[] {
  const prose = text.replace(/^ *```[\s\S]*?^ *```/gm, '').replace(/`[^`\n]*`/g, '');
  const links = Array.from(prose.matchAll(/\]\(([^)\s]+)\)/g), ([, to = '']) => to);
  return links.filter((to) => !/^[a-z]+:/.test(to) && !leadsSomewhere(file, to));
}

function leadsSomewhere(file: string, to: string): boolean {
  const [path = '', anchor] = to.split('#');
  const target = path === '' ? file : join(dirname(file), decodeURIComponent(path));
  if (!existsSync(target)) return false;
  if (anchor === undefined || statSync(target).isDirectory()) return true;
  return anchorsOf(readFileSync(target, 'utf8')).includes(anchor);
}

/** Of its heads, as GitHub makes them. */
function anchorsOf(text: string): readonly string[] {
  const heads = Array.from(text.matchAll(/^#+ (.+)$/gm), ([, head = '']) => head);
  const ids = Array.from(text.matchAll(/<a (?:id|name)="([^"]+)"/g), ([, id = '']) => id);
  return [
    ...ids,
    ...heads.map((head) =>
      head
        .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  ];
}

describe('links in pages', () => {
  for (const page of pages) {
    it(page, () => {
      const file = join(root, page);
      assert.deepEqual(broken(file, readFileSync(file, 'utf8')), []);
    });
  }

  it('that lead nowhere are found', () => {
    const file = join(root, 'README.md');
    const text =
      '[a](no.md) [b](docs/README.md) [c](docs/README.md#no) [d](#license) `[e](no.md)` [f](https://x.y)';
    assert.deepEqual(broken(file, text), ['no.md', 'docs/README.md#no', '#license']);
  });

  it('lead from the index to every page of docs', () => {
    const index = readFileSync(join(root, 'docs/README.md'), 'utf8');
    const shown = Array.from(index.matchAll(/\]\(([^)#\s]+)/g), ([, to = '']) => to);
    const folders = ['docs/*.md', 'docs/integrations/*.md'];
    const own = folders.flatMap((glob) => globSync(glob, { cwd: root }));
    // They are about the sources.
    const others = ['README.md'];
    const missing = own
      .map((page) => relative('docs', page))
      .filter((page) => !shown.includes(page) && !others.includes(page));
    assert.deepEqual(missing, []);
  });
});
