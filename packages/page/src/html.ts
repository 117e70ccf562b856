// Puts the page together: one HTML file that needs nothing but itself.
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { type PageParts, pageParts } from './build.ts';
import type { DemoSource } from './demo.ts';
import type { EachDocument, EachPageInput } from './each.ts';
import type { LiveSource } from './live.ts';
import { pageData } from './model/page-data.ts';
import type { MadeBy, PageInput, SimulationDocument } from './simulation.ts';

/** A page, and what the browser may do with it. */
export interface LivePage {
  readonly html: string;
  /** For the header Content-Security-Policy. */
  readonly policy: string;
}

/**
 * Style, script and data are in it; its policy lets the browser run these alone, by their hashes, and
 * load nothing. The data is compressed, and nothing of it becomes markup: the script puts it there as text.
 */
export async function pageHtml(
  input: SimulationDocument | EachDocument,
  made: MadeBy,
): Promise<string> {
  const shown = { title: 'taintmgr simulation', connects: false };
  return htmlOf(await pageParts(), { ...input, made }, shown).html;
}

/**
 * The page of a live cluster, whose states come from `stream`, an address beside its own. `whatIf`: the
 * address for questions of what would happen; left out: they are not answered.
 */
export async function livePage(stream: string, whatIf?: string): Promise<LivePage> {
  const source = { stream, ...(whatIf !== undefined && { whatIf }) };
  return htmlOf(await pageParts(), source, { title: 'taintmgr', connects: true });
}

/** The page of the demo, whose states come from `stream`; buttons ask `press`, both addresses beside its own. */
export async function demoPage(stream: string, press: string): Promise<LivePage> {
  const source: DemoSource = { demo: { stream, press } };
  return htmlOf(await pageParts(), source, { title: 'taintmgr demo', connects: true });
}

/** The page of a simulation, or of losses, that was asked for on the page of a live cluster. */
export async function whatIfPage(
  input: SimulationDocument | EachDocument,
  asked: NonNullable<EachPageInput['asked']>,
  made: MadeBy,
): Promise<LivePage> {
  const shown = { title: 'taintmgr what if', connects: false };
  return htmlOf(await pageParts(), { ...input, asked, made }, shown);
}

interface Shown {
  readonly title: string;
  /** True for a page that asks its server for data. */
  readonly connects: boolean;
}

/** Such characters would reorder or hide text, and are shown as escapes, as on a terminal. */
const unseen = /[\p{Cf}\p{Zl}\p{Zp}\p{DI}]/gu;

function htmlOf(
  parts: PageParts,
  input: PageInput | EachPageInput | LiveSource | DemoSource,
  { title, connects }: Shown,
): LivePage {
  const json = JSON.stringify('runs' in input ? { ...input, ...pageData(input) } : input);
  const seen = json.replaceAll(unseen, (found) => {
    return `\\\\u${found.codePointAt(0)?.toString(16).padStart(4, '0')}`;
  });
  const data = gzipSync(seen).toString('base64');
  const script = parts.script.replaceAll('</script', '<\\/script');
  const policy = [
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(parts.style)}`,
    ...(connects ? ["connect-src 'self'"] : []),
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>${parts.style}</style>
</head>
<body>
<div id="page"></div>
<noscript>This page draws its charts by a script, which is in it. It loads no other.</noscript>
<script type="application/gzip;base64" id="data">${data}</script>
<script type="module">${script}</script>
</body>
</html>
`;
  return { html, policy: `${policy}; frame-ancestors 'none'` };
}

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}
