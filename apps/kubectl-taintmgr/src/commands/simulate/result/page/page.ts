// The report of a simulation as one HTML page.
import { readFile } from 'node:fs/promises';

// They are beside this file; a bundle has them beside itself.
const page = new URL('./assets/page.html', import.meta.url);
const style = new URL('./assets/page.css', import.meta.url);
/** The modules of the script, each after those that it needs. */
const modules = [
  new URL('./assets/format.js', import.meta.url),
  new URL('./assets/tables.js', import.meta.url),
  new URL('./assets/chart.js', import.meta.url),
  new URL('./assets/page.js', import.meta.url),
];

/**
 * One page that needs nothing but itself: style, script and the whole document are in it. Nothing
 * from the cluster becomes markup: the script puts it there as text.
 */
export async function reportPage(document: object): Promise<string> {
  const [html = '', css = '', ...scripts] = await Promise.all([page, style, ...modules].map(read));
  // Within a script element only this could end it.
  const data = JSON.stringify(document).replaceAll('<', '\\u003c');
  const parts: Readonly<Record<string, string>> = {
    style: `<style>\n${css}</style>`,
    script: `<script type="module">\n${asOneModule(scripts)}</script>`,
    data: `<script type="application/json" id="data">${data}</script>`,
  };
  return html.replace(/<!--(\w+)-->/g, (_, name: string) => parts[name] ?? '');
}

function read(file: URL): Promise<string> {
  return readFile(file, 'utf8');
}

/** What modules import from each other they find in one scope as well. */
function asOneModule(scripts: readonly string[]): string {
  return scripts
    .map((script) => script.replace(/^import [^;]+;\n/gm, '').replace(/^export /gm, ''))
    .join('');
}
