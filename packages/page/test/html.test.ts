import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { livePage, pageHtml, whatIfPage } from '@taintmgr/page';
import { losses, lossOf } from './world/losses.ts';
import { run, simulation } from './world/simulation.ts';

// Names come from whoever may make objects in the cluster.

const hostile = '</script><script>alert(1)</script><!--<script>';
const input = { ...simulation(run({ name: hostile })), source: hostile };
const question = { event: 'down', where: '', taint: '', lasts: '', until: '30m', both: '' };
const made = { command: hostile, version: hostile };
const asked = { address: hostile, command: hostile, question };

const lost = losses([lossOf(hostile)]);

const pages: readonly (readonly [name: string, html: () => Promise<string>, data: unknown])[] = [
  ['a simulation', () => pageHtml(input, made), { ...input, made }],
  [
    'an answer to what if',
    async () => (await whatIfPage(input, asked, made)).html,
    { ...input, asked, made },
  ],
  ['losses', () => pageHtml(lost, made), { ...lost, made }],
  ['a live cluster', async () => (await livePage(hostile)).html, { stream: hostile }],
];

/** What stands between the tags, as a browser finds their end. */
function elementsOf(html: string, open: string, close: string): readonly string[] {
  return html
    .split(open)
    .slice(1)
    .map((rest) => rest.slice(0, rest.indexOf(close)));
}

/** The data of a page, which is compressed. */
function dataOf(html: string): readonly string[] {
  const open = '<script type="application/gzip;base64" id="data">';
  return elementsOf(html, open, '</script>').map((text) => {
    return gunzipSync(Buffer.from(text, 'base64')).toString();
  });
}

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

describe('the page of', () => {
  for (const [name, make, data] of pages) {
    it(`${name} has its data as text, whatever is in it, and lets its own script alone run`, async () => {
      const html = await make();
      const [json = '', ...others] = dataOf(html);
      assert.deepEqual([JSON.parse(json), others], [JSON.parse(JSON.stringify(data)), []]);
      const [script = '', ...more] = elementsOf(html, '<script type="module">', '</script>');
      assert.deepEqual(more, []);
      const [style = ''] = elementsOf(html, '<style>', '</style>');
      const [policy = ''] = elementsOf(html, 'http-equiv="Content-Security-Policy" content="', '"');
      const rules = [
        "default-src 'none'",
        `script-src ${hashOf(script)}`,
        `style-src ${hashOf(style)}`,
        ...(name === 'a live cluster' ? ["connect-src 'self'"] : []),
        ...["base-uri 'none'", "form-action 'none'"],
      ];
      assert.deepEqual(policy.split('; '), rules);
    });
  }

  it('a simulation shows what is not seen and reorders what is', async () => {
    const html = await pageHtml({ ...input, source: 'a\u202eb\u061c\u3164' }, made);
    const [json = ''] = dataOf(html);
    assert.ok(json.includes('"a\\\\u202eb\\\\u061c\\\\u3164"'), json);
    assert.doesNotMatch(json, /[\u202e\u061c\u3164]/);
  });

  it('a live cluster is shown in no frame', async () => {
    assert.match((await livePage('events')).policy, /; frame-ancestors 'none'$/);
  });
});
