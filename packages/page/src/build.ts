// Makes the script and the style of the page out of their sources.
import { fileURLToPath } from 'node:url';

/** The parts of the page beside its data. */
export interface PageParts {
  readonly script: string;
  readonly style: string;
}

const entry = fileURLToPath(new URL('./browser/main.tsx', import.meta.url));

/** Builds both. The published package has them ready in the place of this module. */
export async function pageParts(): Promise<PageParts> {
  const { build } = await import('esbuild');
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    minify: true,
    outdir: 'page',
    format: 'esm',
    target: 'es2022',
    charset: 'utf8',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    conditions: ['@taintmgr/source'],
    tsconfigRaw: '{}',
    logLevel: 'silent',
  });
  const textOf = (suffix: string): string =>
    outputFiles.find(({ path }) => path.endsWith(suffix))?.text ?? '';
  return { script: textOf('.js'), style: textOf('.css') };
}
