// Puts the page together: one HTML file that needs nothing but itself.
import { createHash } from 'node:crypto';
import { pageParts } from './build.ts';
import type { PageInput } from './input.ts';

/**
 * Style, script and data are in it; its policy lets the browser run these alone, by their hashes, and
 * load nothing. Nothing of the data becomes markup: the script puts it there as text.
 */
export async function pageHtml(input: PageInput): Promise<string> {
  const parts = await pageParts();
  // Within a script element only this could end it.
  const data = JSON.stringify(input).replaceAll('<', '\\u003c');
  const script = parts.script.replaceAll('</script', '<\\/script');
  const policy = [
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(parts.style)}`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>taintmgr simulation</title>
<style>${parts.style}</style>
</head>
<body>
<div id="page"></div>
<noscript>This page draws its charts by a script, which is in it. It loads nothing.</noscript>
<script type="application/json" id="data">${data}</script>
<script type="module">${script}</script>
</body>
</html>
`;
}

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}
