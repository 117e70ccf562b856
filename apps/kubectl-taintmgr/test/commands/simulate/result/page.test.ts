import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { formatDuration } from '@taintmgr/core/time';
import type { Browser, Locator, Page } from 'playwright-core';
import { launchBrowser } from '../../../world/browser.ts';
import { run } from '../../../world/run.ts';

// The page of --report in a real browser: whatever it shows is held against the json of the same
// simulation. The names of what is simulated try to become markup.

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

let directory = '';
/** What of the document is looked at by name. Times are seconds, null where it goes on. */
interface Document {
  readonly runs: readonly {
    readonly nodes: readonly { readonly states: readonly { at: number; ready: string }[] }[];
    readonly evictions: readonly { readonly at: number; readonly because: readonly string[] }[];
    readonly deadlines: readonly { readonly setAt: number; readonly endedAt: number | null }[];
    readonly unplaced: readonly { readonly from: number; readonly until: number | null }[];
    readonly events: readonly { readonly text: string }[];
    readonly refusals: readonly unknown[];
  }[];
}

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

/** A new window with the page, which notes every error and every wish to load something. */
async function opened(options: Parameters<Browser['newPage']>[0] = {}): Promise<Page> {
  const opening = await browser.newPage({ viewport: { width: 1280, height: 900 }, ...options });
  opening.on('pageerror', (error) => faults.push(error.message));
  opening.on('console', (message) => {
    if (message.type() !== 'log') faults.push(message.text());
  });
  opening.on('dialog', (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  opening.on('request', (request) => {
    if (request.url() !== url) faults.push(`wants ${request.url()}`);
  });
  await opening.goto(url);
  return opening;
}

interface Shown {
  readonly path: string;
  readonly format: string;
  readonly text: string | null;
}

/** Every number on the page, held against the document; how many there are. */
async function checkNumbers(): Promise<number> {
  const shown: readonly Shown[] = await page.locator('[data-path]').evaluateAll((nodes) =>
    nodes.map((node) => ({
      path: node.getAttribute('data-path') ?? '',
      format: node.getAttribute('data-format') ?? '',
      text: node.textContent,
    })),
  );
  for (const { path, format, text } of shown) {
    const value = path.split('.').reduce<unknown>((inner, step) => Object(inner)[step], data);
    const wanted = format === 'duration' ? formatDuration(Number(value) * 1000) : String(value);
    assert.equal(text, value === null ? '–' : wanted, path);
  }
  return shown.length;
}

async function textOf(place: Locator): Promise<string> {
  return (await place.textContent()) ?? assert.fail('no text');
}

async function counts(): Promise<Readonly<Record<string, number>>> {
  const entries = await page.locator('[data-count]').evaluateAll((nodes) =>
    nodes.map((node) => {
      return [node.getAttribute('data-count') ?? '', Number(node.textContent)] as const;
    }),
  );
  return Object.fromEntries(entries);
}

/** What the counts at that second have to be, by the document. */
function countsAt(index: number, at: number): Readonly<Record<string, number>> {
  const { nodes, evictions, deadlines, unplaced } = data.runs[index] ?? assert.fail('no run');
  const isNow = (from: number, until: number | null): boolean =>
    from <= at && (until === null || until > at);
  const nodesThat = (ready: string): number =>
    nodes.filter(({ states }) => {
      return states.findLast((state) => state.at <= at)?.ready === ready;
    }).length;
  return {
    'evicted so far': evictions.filter((one) => one.at <= at).length,
    'deadlines running': deadlines.filter((one) => {
      return isNow(one.setAt, one.endedAt);
    }).length,
    'fit nowhere': unplaced.filter((one) => {
      return isNow(one.from, one.until);
    }).length,
    'nodes ready': nodesThat('True'),
    'nodes not ready': nodesThat('False'),
    'nodes unknown': nodesThat('Unknown'),
  };
}

async function scrubTo(at: number): Promise<void> {
  await page.locator('#scrubber').fill(String(at));
  assert.equal(await textOf(page.locator('#clock')), formatDuration(at * 1000));
}

describe('the page of a simulation', () => {
  it('loads without an error and without asking for anything', async () => {
    assert.match(await textOf(page.locator('#about')), /<script>alert\(1\)</);
    assert.ok((await page.locator('#chart [data-mark]').count()) > 5);
    assert.deepEqual(faults, []);
  });

  it('shows the numbers of the json, at any time and for each run', async () => {
    for (const index of [0, 1]) {
      await page.locator(`#runs input[value="${index}"]`).check();
      for (const at of [0, 61, 400, 1000, 1800]) {
        await scrubTo(at);
        assert.ok((await checkNumbers()) > 25);
        assert.deepEqual(await counts(), countsAt(index, at), `at ${at} of run ${index}`);
      }
    }
    await page.locator('#runs input[value="0"]').check();
  });

  it('moves the time by the keys of a slider', async () => {
    await scrubTo(100);
    await page.locator('#scrubber').press('ArrowRight');
    assert.equal(await textOf(page.locator('#clock')), '1m41s');
    await page.locator('#scrubber').press('End');
    assert.equal(await textOf(page.locator('#clock')), '30m');
  });

  it('goes from mark to mark by keyboard and says what each one is', async () => {
    const detail = page.locator('#detail');
    await page.locator('#chart').press('Home');
    assert.match(await textOf(detail), /^1m: taint zone-a-1: kernel=old:NoExecute \(line 4/);
    const count = await page.locator('#chart [data-mark]').count();
    const said: string[] = [];
    for (let step = 0; step < count; step++) {
      said.push(await textOf(detail));
      await page.locator('#chart').press('ArrowRight');
    }
    assert.equal(new Set(said).size, count);
    assert.equal(await page.locator('#chart').getAttribute('aria-valuenow'), String(count));
    const all = said.join('\n');
    const { events, evictions, refusals } = data.runs[0] ?? assert.fail('no run');
    for (const { text } of events) assert.ok(all.includes(text), text);
    assert.ok(evictions.length > 0 && refusals.length > 0);
    assert.ok(all.includes(evictions[0]?.because[0] ?? assert.fail('no reason')));
    assert.match(all, /refused .*by budget shop\/web/);
    await page.locator('#chart').press('ArrowLeft');
    assert.equal(await textOf(detail), said.at(-2));
  });

  it('says on hover what it says by keyboard', async () => {
    const mark = page.locator('#chart .mark.eviction').first();
    await mark.hover();
    const text = await textOf(page.locator('#tooltip'));
    assert.match(text, /shop\/web-\S+: evict, no toleration for kernel=old:NoExecute/);
    await mark.click();
    assert.equal(await textOf(page.locator('#detail')), text);
  });

  it('fits a telephone, is dark where that is wished, and prints', async () => {
    const phone = await opened({ viewport: { width: 390, height: 800 }, colorScheme: 'dark' });
    const background = await phone.evaluate('getComputedStyle(document.body).backgroundColor');
    assert.equal(background, 'rgb(20, 22, 26)');
    assert.ok(Number(await phone.evaluate('document.documentElement.scrollWidth')) <= 390);
    await phone.emulateMedia({ media: 'print' });
    assert.equal(
      await phone.evaluate('getComputedStyle(document.body).backgroundColor'),
      'rgb(255, 255, 255)',
    );
    assert.equal(await phone.locator('#scrubber').isVisible(), false);
    // What is printed says whose rules it shows, of which the other ones are left out.
    const rules = await phone
      .locator('#runs label')
      .evaluateAll((labels) =>
        labels.filter((label) => label.checkVisibility()).map((label) => label.textContent?.trim()),
      );
    assert.deepEqual(rules, ['precise']);
    assert.ok((await phone.pdf()).length > 10_000);
    await phone.close();
    assert.deepEqual(faults, []);
  });
});
