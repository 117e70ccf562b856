import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { type EachDocument, type LossWorkload, pageHtml } from '@taintmgr/page';
import { type Browser, launchBrowser, type Page } from '../../world/browser.ts';
import { axeFindings, fits, fragmentOf, soon, textOf } from '../../world/report-page.ts';

// The page of losses in a real browser: forty workloads on sixty nodes, of which each is lost once. A name tries to
// become markup.

const hostile = '</script><script>alert(1)</script>';

function workload(index: number, minutes: number): LossWorkload {
  return {
    ...{ kind: 'Deployment', namespace: index % 2 === 0 ? 'shop' : 'pay', name: `web-${index}` },
    ...{ wanted: 4, downMax: 1, downWorstWanted: 4, downSeconds: minutes * 60, outageSeconds: 0 },
    ...{ podMinutesLost: minutes, downAtEnd: 0, evictions: 1, unplacedAtEnd: index === 36 ? 1 : 0 },
    ...(index === 37 && { unknown: ['an Autoscaler scales it'] }),
  };
}

const losses = Array.from({ length: 60 }, (_, at): EachDocument['losses'][number] => {
  const workloads = Array.from({ length: 40 }, (_, index) => index)
    .filter((index) => (at * 7 + index) % 3 === 0)
    .map((index) => workload(index, ((60 - at) * (index + 1)) / 100));
  const lost = workloads.reduce((sum, { podMinutesLost }) => sum + podMinutesLost, 0);
  return {
    ...{ name: `node-${at}`, nodes: [`node-${at}`], pods: 20, failed: null, refusals: 0 },
    ...{ event: `{at: 1m, stopKubelet: {node: node-${at}}}`, evictions: workloads.length },
    ...{ podMinutesLost: lost, blocked: 0, workloads },
    unplaced: { pods: 1, atOnceMax: 1, atEnd: at % 2 },
    budgets:
      at === 0
        ? [{ namespace: 'shop', name: 'web-0', refusals: 3, belowSeconds: 61, belowMax: 1 }]
        : [],
  };
});
const made = { command: 'kubectl taintmgr simulate --each node', version: '0.1.0' };
const input: EachDocument = {
  ...{ apiVersion: 'taintmgr.dev/v1alpha1', kind: 'LossSimulation', source: hostile },
  ...{ each: 'node', by: 'down', seed: 1, startsAt: '2026-01-01T00:00:00Z', untilSeconds: 1800 },
  ...{ rules: 'taintmgr', complete: true, missing: [], notes: [hostile], unplayed: ['node-60'] },
  ...{ command: 'kubectl taintmgr simulate -f a.json --until 30m', losses },
};

let directory = '';
let browser: Browser;
let url = '';
const faults: string[] = [];
before(async () => {
  browser = await launchBrowser();
  directory = mkdtempSync(join(tmpdir(), 'loss-page-'));
  const file = join(directory, 'losses.html');
  writeFileSync(file, await pageHtml(input, made));
  url = pathToFileURL(file).href;
});
after(async () => {
  await browser?.close();
  if (directory) rmSync(directory, { recursive: true });
});

type Screen = Parameters<Browser['newPage']>[0];

async function opened(screen: Screen, fragment = ''): Promise<Page> {
  const page = await browser.newPage(screen);
  page.setDefaultTimeout(120_000);
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('console', (message) => faults.push(message.text()));
  page.on('dialog', (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(url)) faults.push(`wants ${request.url()}`);
  });
  await page.goto(`${url}${fragment}`);
  await page.locator('.heat-map, .losses, .chart-side p').first().waitFor();
  return page;
}

const why = (page: Page) => page.locator('.why');
const rows = (page: Page) => page.locator('.heat-map tbody tr');

for (const colorScheme of ['light', 'dark'] as const) {
  for (const [width, height] of [
    [1400, 900],
    [800, 900],
    [390, 844],
  ] as const) {
    it(`the page of losses is accessible and fits at ${width}x${height}, ${colorScheme}`, async () => {
      const page = await opened({ viewport: { width, height }, colorScheme });
      await fits(page, width);
      const first = width < 600 ? page.locator('.loss') : page.locator('.heat-map td.level-5');
      await first.first().click();
      await why(page).waitFor();
      await fits(page, width);
      assert.deepEqual(await axeFindings(page), []);
      assert.deepEqual(faults, []);
      await page.close();
    });
  }
}

describe('the heat map of losses', () => {
  let page: Page;
  before(async () => {
    page = await opened({ viewport: { width: 1400, height: 900 } });
  });

  it('answers first, and says what was not played', async () => {
    assert.match(
      await textOf(page.locator('h1')),
      /^The loss of node node-0 hurts most: pods of pay\/web-39 are down for 24m, at most 1 of 4 at once\. 13 /,
    );
    const figures = await textOf(page.locator('.headline'));
    assert.match(
      figures,
      /^The worst of 60 losses: the loss of node node-0\s*24m\s*1 of 4 pods of pay\/web-39 down/,
    );
    assert.match(
      await textOf(page.locator('footer')),
      /taintmgr 0\.1\.0 simulated .*kubectl taintmgr simulate --each node/,
    );
    const text = await textOf(page.locator('header.result'));
    assert.match(text, /Of 60 losses 1 breaks a budget, 30 leave pods without room to the end\./);
    assert.match(text, /Stopped after 60 of 61: not played are node-60\./);
    assert.ok(text.includes(`each node of ${hostile} down`), text);
  });

  it('opens with the worst ten, then all', async () => {
    assert.equal(await rows(page).count(), 10);
    await page.getByRole('button', { name: 'Show all 60' }).click();
    await soon(page, async () => assert.equal(await rows(page).count(), 60));
    assert.equal(await page.getByRole('button', { name: /^Show/ }).count(), 0);
  });

  it('is gone through by keys: arrows move, Enter says why, Escape closes', async () => {
    await page.locator('.heat-map [tabindex="0"]').focus();
    const focused = (): Promise<unknown> =>
      page.evaluate('document.activeElement.textContent || document.activeElement.tagName');
    for (const [key, at] of [
      ['ArrowDown', 'node-1'],
      ['End', '1'],
      ['ArrowRight', '1'],
      ['Home', 'node-1'],
      ['PageDown', 'node-11'],
      ['Control+End', '1'],
      ['Control+Home', 'node-0'],
      ['ArrowUp', 'node-0'],
    ] as const) {
      await page.keyboard.press(key);
      assert.equal(await focused(), at, key);
    }
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Enter');
    await soon(page, async () => assert.match(await textOf(why(page)), /pay\/web-39/));
    assert.match(await textOf(why(page)), /downat most 1 of 4 podsfor24m/);
    // An open panel goes along.
    await page.keyboard.press('ArrowDown');
    await soon(page, async () => assert.match(await textOf(why(page)), /^The loss of node node-1/));
    await page.locator('.why section').focus();
    await page.keyboard.press('Escape');
    await why(page).waitFor({ state: 'detached' });
    assert.equal(await page.evaluate('document.activeElement.closest("tr").rowIndex'), 2);
  });

  it('says why of a loss: whom it hurts, which budget breaks, and how to play it alone', async () => {
    await rows(page).first().locator('th').click();
    const text = await textOf(why(page));
    assert.match(text, /^The loss of node node-0/);
    assert.match(text, /Budgetsshop\/web-0at most 1 too few, for 1m1s; refuses 3 evictions/);
    assert.match(text, /Affected: 14 workloads/);
    assert.equal(
      await textOf(why(page).locator('code')),
      "kubectl taintmgr simulate -f a.json --until 30m --event '{at: 1m, stopKubelet: {node: node-0}}'",
    );
    await page.getByRole('button', { name: 'Close' }).click();
    await why(page).waitFor({ state: 'detached' });
  });

  it('marks a cell of which not all is known, and one without room', async () => {
    const unknown = page.getByRole('gridcell', { name: /web-37:.*figures may be wrong/ }).first();
    assert.match(await textOf(unknown), /\?$/);
    const unplaced = page.getByRole('gridcell', { name: /web-36:.*no room for 1/ }).first();
    assert.match((await unplaced.getAttribute('class')) ?? '', /unplaced/);
  });

  it('keeps what is searched, filtered, coloured and chosen in the address', async () => {
    await page.getByLabel('Namespace').selectOption('pay');
    await page.getByLabel('Colour by').selectOption('largest share down');
    await page.getByLabel('Find').fill('web-1');
    const [worst = ''] = await rows(page).locator('th').allTextContents();
    await rows(page).first().locator('td.heat').first().click();
    await soon(page, async () => {
      const { by, ns, q, why: loss } = Object.fromEntries(fragmentOf(page));
      assert.deepEqual([by, ns, q, loss], ['share', 'pay', 'web-1', worst]);
    });
    const columns = await page.locator('.heat-map thead .upright').allTextContents();
    assert.ok(columns.includes('pay/web-11') && !columns.includes('pay/web-39'), `${columns}`);
    assert.equal(await textOf(page.locator('td.level-1').first()), '25%');
    const screen = { viewport: { width: 1400, height: 900 } };
    const again = await opened(screen, new URL(page.url()).hash);
    assert.equal(await textOf(again.locator('main')), await textOf(page.locator('main')));
    assert.equal(again.url(), page.url());
    await again.close();
  });

  it('says that nothing is left of a search for what is not there', async () => {
    await page.getByLabel('Find').fill('zzz');
    await page.getByText('Search and filter leave nothing.').waitFor();
    await page.close();
  });
});

describe('the list of losses, where there is no room for a map', () => {
  it('has the worst ten with whom they hurt most, and says why', async () => {
    const page = await opened({ viewport: { width: 390, height: 844 } });
    assert.equal(await page.locator('.loss').count(), 10);
    const first = await textOf(page.locator('.losses li').first());
    assert.match(first, /^node-0.*pod-minutes1 budget brokenpay\/web-39: 1 of 4 down for 24m/);
    assert.match(first, /and 11 workloads more$/);
    await page.locator('.loss').nth(1).press('Enter');
    await soon(page, async () => assert.match(await textOf(why(page)), /^The loss of node node-1/));
    await page.keyboard.press('Escape');
    await why(page).waitFor({ state: 'detached' });
    // A window that grows has room for the map.
    await page.setViewportSize({ width: 1400, height: 900 });
    await page.locator('.heat-map').waitFor();
    await page.close();
    assert.deepEqual(faults, []);
  });
});
