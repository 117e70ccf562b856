import { readFile } from 'node:fs/promises';

/** The parts of the page, beside this file; a bundle has them beside itself. */
const assets = new URL('./assets/', import.meta.url);

/** The modules of its script, each after those that it needs. */
const modules = ['format.js', 'tables.js', 'chart.js', 'page.js'];

/**
 * One page that needs nothing but itself: style, script and the whole document are in it. Nothing
 * from the cluster becomes markup: the script puts it there as text.
 */
export async function reportPage(document: object): Promise<string> {
  const [page, style, ...scripts] = await Promise.all(
    ['page.html', 'page.css', ...modules].map(read),
  );
  // Within a script element only this could end it.
  const data = JSON.stringify(document).replaceAll('<', '\\u003c');
  const parts: Readonly<Record<string, string>> = {
    style: `<style>\n${style}</style>`,
    script: `<script type="module">\n${asOneModule(scripts)}</script>`,
    data: `<script type="application/json" id="data">${data}</script>`,
  };
  return (page ?? '').replace(/<!--(\w+)-->/g, (_, name: string) => parts[name] ?? '');
}

function read(name: string): Promise<string> {
  return readFile(new URL(name, assets), 'utf8');
}

/** What modules import from each other they find in one scope as well. */
function asOneModule(scripts: readonly string[]): string {
  return scripts
    .map((script) => script.replace(/^import [^;]+;\n/gm, '').replace(/^export /gm, ''))
    .join('');
}
