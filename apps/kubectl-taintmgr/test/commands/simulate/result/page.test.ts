import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import axeCore from 'axe-core';
import type { Browser, Locator, Page } from 'playwright-core';
import { launchBrowser } from '../../../world/browser.ts';
import { run } from '../../../world/run.ts';

// The page of --report in a real browser, held against the json of the same simulation. The names of
// what is simulated try to become markup.

const topology = `
apiVersion: taintmgr.dev/v1alpha1
kind: Topology
nodes:
- {zone: zone-a, count: 3}
- {zone: zone-b, count: 3}
workloads:
- {kind: Deployment, name: shop/web, replicas: 12, requests: {cpu: '1'}, budget: {maxUnavailable: 1}}
- {kind: DaemonSet, name: infra/agent, tolerations: [{operator: Exists}]}
`;
const script = `
engine: {mode: evict}
events:
- {at: 1m, taint: {node: zone-a-1, taint: 'kernel=old:NoExecute'}, lasts: 10m}
- {at: 5m, stopKubelet: {zone: zone-b}, lasts: 10m}
`;
const axe = axeCore.source;

interface Eviction {
  readonly at: number;
  readonly namespace: string;
  readonly pod: string;
  readonly because: readonly string[];
}

/** What of the document is looked at by name. Times are seconds. */
interface Document {
  readonly runs: readonly {
    readonly name: string;
    readonly evictions: readonly Eviction[];
    readonly summary: {
      readonly workloads: readonly { readonly name: string; readonly downMax: number }[];
    };
  }[];
}

let directory = '';
let browser: Browser;
let page: Page;
let url = '';
let data: Document;
const faults: string[] = [];

before(async () => {
  browser = await launchBrowser();
  directory = mkdtempSync(join(tmpdir(), 'simulate-page-'));
  const file = (name: string, text: string): string => {
    writeFileSync(join(directory, name), text);
    return join(directory, name);
  };
  const source = file('<script>alert(1)<', topology);
  const report = join(directory, 'report.html');
  const files = ['-f', source, '--script', file('events.yaml', script)];
  const limits = ['--fail-if', 'unavailable(shop/web) > 99%'];
  const more = ['--compare', '--report', report, '-o', 'json'];
  const { code, out, err } = await run('simulate', ...files, ...limits, ...more);
  assert.equal(code, 0, err);
  data = JSON.parse(out);
  url = pathToFileURL(report).href;
  page = await opened();
});
after(async () => {
  await browser?.close();
  if (directory) rmSync(directory, { recursive: true });
});

type Options = Parameters<Browser['newPage']>[0];

/** A new window with the page, which notes every error and every wish to load something. */
async function opened(options: Options = {}, fragment = ''): Promise<Page> {
  const opening = await browser.newPage({ viewport: { width: 1400, height: 900 }, ...options });
  opening.setDefaultTimeout(120_000);
  opening.on('pageerror', (error) => faults.push(error.message));
  opening.on('console', (message) => {
    if (message.type() !== 'log') faults.push(message.text());
  });
  opening.on('dialog', (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  opening.on('request', (request) => {
    if (!request.url().startsWith(url)) faults.push(`wants ${request.url()}`);
  });
  await opening.goto(`${url}${fragment}`);
  await opening.locator('.labels li').first().waitFor();
  return opening;
}

async function textOf(place: Locator): Promise<string> {
  return (await place.textContent()) ?? assert.fail('no text');
}

function fragmentOf(of: Page): URLSearchParams {
  return new URLSearchParams(new URL(of.url()).hash.slice(1));
}

/** What the chart shows of the time, by the address. */
async function viewOf(of: Page): Promise<readonly number[]> {
  await of.evaluate('new Promise(requestAnimationFrame)');
  return (fragmentOf(of).get('t') ?? '0-1800').split('-').map(Number);
}

function lane(of: Page, name: string): Locator {
  return of.locator('.label.lane button.name', { hasText: name });
}

async function boxOf(place: Locator): Promise<{ x: number; y: number; width: number }> {
  return (await place.boundingBox()) ?? assert.fail('it is not shown');
}

describe('the page of a simulation', () => {
  it('opens with the result and the chart, and asks for nothing', async () => {
    const [first, other] = data.runs;
    const most = first?.summary.workloads.find(({ name }) => name === 'web')?.downMax;
    const sentence = await textOf(page.locator('h1'));
    assert.match(
      sentence,
      new RegExp(`^precise: shop/web is down for .*at most ${most} of 12 pods`),
    );
    assert.match(sentence, /after “.*” at 0:\d\d:\d\d/);
    assert.match(sentence, new RegExp(`; ${other?.name}: `));
    assert.match(await textOf(page.locator('.about')), /<script>alert\(1\)</);
    const { y } = await boxOf(page.locator('.content canvas'));
    assert.ok(y < 300, `the chart begins at ${y}`);
    assert.deepEqual(faults, []);
  });

  it('has a policy by hashes, and nothing that is not in it', () => {
    const html = readFileSync(new URL(url), 'utf8');
    const policy = /Content-Security-Policy" content="([^"]*)"/.exec(html)?.[1] ?? '';
    assert.match(
      policy,
      /^default-src 'none'; script-src 'sha256-[^']*'; style-src 'sha256-[^']*'/,
    );
    assert.doesNotMatch(policy, /unsafe/);
  });

  it('says why at a click on a mark, in the words of the json', async () => {
    const eviction = data.runs[0]?.evictions[0] ?? assert.fail('none');
    const canvas = page.locator('.content canvas');
    const { x, y, width } = await boxOf(canvas);
    const row = await boxOf(lane(page, 'shop/web').first());
    const place = x + (eviction.at / 1800) * (width - 30);
    await page.mouse.click(place, Math.max(y, row.y) + 30);
    const why = await textOf(page.locator('.why'));
    assert.ok(why.includes(`${eviction.namespace}/${eviction.pod} evicted`), why);
    assert.ok(why.includes(eviction.because.join('; ')), why);
    const at = Number(fragmentOf(page).get('at'));
    assert.ok(Math.abs(at - eviction.at) < 10, `pinned at ${at}`);
    await page.getByRole('button', { name: 'Close' }).click();
    assert.equal(await page.locator('.why').count(), 0);
  });

  it('lists all that happened in a lane, by keyboard', async () => {
    await lane(page, 'shop/web').first().press('Enter');
    const why = await textOf(page.locator('.why'));
    for (const { pod, because } of data.runs[0]?.evictions ?? [])
      assert.ok(why.includes(`shop/${pod} evicted`) && why.includes(because.join('; ')), pod);
    await page.locator('.scroller').press('Escape');
    assert.equal(await page.locator('.why').count(), 0);
  });

  it('goes from mark to mark by N and P', async () => {
    const own = await opened();
    const scroller = own.locator('.scroller');
    await scroller.press('n');
    assert.match(
      await textOf(own.locator('.why')),
      /0:01:00.*taint zone-a-1: kernel=old:NoExecute/,
    );
    const first = fragmentOf(own).get('at');
    await scroller.press('n');
    assert.notEqual(fragmentOf(own).get('at'), first);
    await scroller.press('p');
    assert.equal(fragmentOf(own).get('at'), first);
    await own.close();
  });

  it('zooms by wheel, keys, buttons and brush, moves by dragging, and shows all again', async () => {
    const own = await opened();
    const lengthOf = async (): Promise<number> => {
      const [from = 0, until = 0] = await viewOf(own);
      return until - from;
    };
    const { x, y, width } = await boxOf(own.locator('.content canvas'));
    await own.mouse.move(x + width / 2, y + 60);
    await own.keyboard.down('Control');
    await own.mouse.wheel(0, -300);
    await own.keyboard.up('Control');
    const afterWheel = await lengthOf();
    assert.ok(afterWheel < 1500, `${afterWheel}`);
    const [before = 0] = await viewOf(own);
    await own.mouse.down();
    await own.mouse.move(x + width / 2 + 100, y + 60, { steps: 4 });
    await own.mouse.up();
    const [dragged = 0] = await viewOf(own);
    assert.ok(dragged < before, `${dragged} of ${before}`);
    await own.locator('.scroller').press('w');
    assert.ok((await lengthOf()) < afterWheel);
    await own.locator('.scroller').press('0');
    assert.equal(await lengthOf(), 1800);
    await own.getByRole('button', { name: 'Zoom in' }).click();
    assert.equal(await lengthOf(), 900);
    await own.getByRole('button', { name: 'All', exact: true }).click();
    const strip = await boxOf(own.locator('.overview svg'));
    const toPixels = (seconds: number) => strip.x + (seconds / 1800) * (strip.width - 30);
    // A handle of the brush, from the end to the middle.
    await own.mouse.move(toPixels(1800), strip.y + 15);
    await own.mouse.down();
    await own.mouse.move(toPixels(900), strip.y + 15, { steps: 4 });
    await own.mouse.up();
    const [from = 1, until = 0] = await viewOf(own);
    assert.ok(from < 2 && Math.abs(until - 900) < 10, `${from}-${until}`);
    await own.close();
  });

  it('opens zones, nodes and pods, finds them, and is the same at its address', async () => {
    const own = await opened();
    await own.getByRole('button', { name: 'zone-a: what is in it' }).click();
    await own.getByRole('button', { name: 'zone-a-1: what is in it' }).click();
    const pods = own.locator('.label.depth-2');
    assert.ok((await pods.count()) > 0);
    await own.getByRole('button', { name: 'Zoom in' }).click();
    const fragment = new URL(own.url()).hash;
    const again = await opened({}, fragment);
    assert.equal(await again.locator('.label.depth-2').count(), await pods.count());
    assert.deepEqual(await viewOf(again), await viewOf(own));
    await again.getByLabel('Find').fill('zone-a-1');
    const labels = await again.locator('.label.lane .text').allTextContents();
    assert.ok(labels.length > 0 && labels.some((text) => text.includes('zone-a-1')));
    assert.equal(await lane(again, 'infra/agent').count(), 0);
    await own.close();
    await again.close();
  });

  const sizes = [
    [1400, 900],
    [800, 900],
    [390, 844],
  ] as const;
  for (const [width, height] of sizes) {
    for (const colorScheme of ['light', 'dark'] as const) {
      it(`is accessible and fits at ${width}x${height}, ${colorScheme}`, async () => {
        const own = await opened({ viewport: { width, height }, colorScheme });
        await lane(own, 'shop/web').first().click();
        const wide = await own.evaluate('document.documentElement.scrollWidth');
        assert.ok(Number(wide) <= width, `${wide} pixels wide`);
        // The policy of the page lets nothing in: a debugger may.
        await own.evaluate(axe);
        const findings = await own.evaluate(
          'axe.run().then(({ violations }) => violations.map(({ id, nodes }) => ' +
            '[id, ...nodes.map(({ html }) => html)].join(" ")))',
        );
        assert.deepEqual(findings, []);
        await own.close();
      });
    }
  }

  it('prints light, with all lanes', async () => {
    const own = await opened({ colorScheme: 'dark', viewport: { width: 800, height: 500 } });
    await own.emulateMedia({ media: 'print' });
    const background = await own.evaluate('getComputedStyle(document.body).backgroundColor');
    assert.equal(background, 'rgb(255, 255, 255)');
    assert.equal(await own.locator('.controls').isVisible(), false);
    assert.ok((await own.pdf()).length > 10_000);
    await own.close();
    assert.deepEqual(faults, []);
  });
});
