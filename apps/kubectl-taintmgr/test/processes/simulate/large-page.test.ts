import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { type Browser, launchBrowser, type Page } from '../../world/browser.ts';
import { axeFindings, boxOf, fits, fragmentOf, soon, textOf } from '../../world/report-page.ts';
import { run } from '../../world/run.ts';

// The page of a cluster with more workloads than anybody reads: the worst ten, and all for who asks.

const amount = 30;
const workloads = Array.from({ length: amount }, (_, index) => {
  const budget = index % 2 === 0 ? ', budget: {maxUnavailable: 1}' : '';
  return `- {kind: Deployment, name: team-${index % 15}/w${index}, replicas: ${2 + index}${budget}}`;
});
const topology = `
apiVersion: taintmgr.dev/v1alpha1
kind: Topology
nodes:
- {zone: zone-a, count: 10}
- {zone: zone-b, count: 10}
workloads:
${workloads.join('\n')}
`;
const event = '{at: 1m, taint: {zone: zone-a, taint: "kernel=old:NoExecute"}}';

let directory = '';
let browser: Browser;
let url = '';
let harmed = 0;
const faults: string[] = [];
before(async () => {
  browser = await launchBrowser();
  directory = mkdtempSync(join(tmpdir(), 'large-page-'));
  const [source, report] = [join(directory, 'topology.yaml'), join(directory, 'report.html')];
  writeFileSync(source, topology);
  const played = ['-f', source, '--event', event, '--until', '5m', '--report', report];
  const { code, out, err } = await run('simulate', ...played, '-o', 'json');
  assert.equal(code, 0, err);
  harmed = JSON.parse(out).runs[0].summary.totals.workloads;
  assert.ok(harmed > 20, `${harmed}`);
  url = pathToFileURL(report).href;
});
after(async () => {
  await browser?.close();
  if (directory) rmSync(directory, { recursive: true });
});

async function opened(screen: Parameters<Browser['newPage']>[0], fragment = ''): Promise<Page> {
  const page = await browser.newPage(screen);
  page.setDefaultTimeout(120_000);
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('console', (message) => faults.push(message.text()));
  await page.goto(`${url}${fragment}`);
  await page.locator('.labels li').first().waitFor();
  return page;
}

function rowsIn(page: Page, table: string): Promise<number> {
  return page.getByLabel(table).locator('tbody tr').count();
}

for (const [width, height] of [
  [1400, 900],
  [390, 844],
] as const) {
  for (const colorScheme of ['light', 'dark'] as const) {
    describe(`the page of a large answer at ${width}x${height}, ${colorScheme}`, () => {
      const screen = { viewport: { width, height }, colorScheme };

      it('has the worst ten, the chart in the first screen, and no long sentence', async () => {
        const page = await opened(screen);
        const { y } = await boxOf(page.locator('.content canvas'));
        assert.ok(y < height * 0.6, `the chart begins at ${y}`);
        const header = await textOf(page.locator('header.result'));
        assert.match(header, new RegExp(`${harmed} of ${amount} workloads are affected: at most`));
        const names = width < 600 ? 3 : 9;
        const told = new RegExp(
          `Also down: (team-\\d+/w\\d+, ){${names - 1}}team-\\d+/w\\d+ and \\d+ more$`,
        );
        assert.match(header, told);
        assert.equal(await rowsIn(page, 'Workloads in numbers'), 10);
        assert.equal(await rowsIn(page, 'Namespaces in numbers'), 10);
        assert.match(
          await textOf(page.getByLabel('Workloads in numbers')),
          /\d+ nodes of zone-a; budget w\d+: \d+ too few for/,
        );
        await fits(page, width);
        assert.deepEqual(await axeFindings(page), []);
        assert.deepEqual(faults, []);
        await page.close();
      });

      it('has the other names for who asks', async () => {
        const page = await opened(screen);
        await page.getByRole('button', { name: /^and \d+ more$/ }).click();
        await soon(page, async () => {
          const header = await textOf(page.locator('header.result'));
          assert.equal(header.match(/team-\d+\/w\d+,/g)?.length, harmed - 2);
        });
        const again = await opened(screen, new URL(page.url()).hash);
        assert.equal(
          await textOf(again.locator('header.result')),
          await textOf(page.locator('header.result')),
        );
        await again.getByRole('button', { name: 'fewer' }).click();
        await soon(again, async () => assert.equal(fragmentOf(again).size, 0));
        await page.close();
        await again.close();
      });

      it('shows all, of a namespace too, and the address keeps that', async () => {
        const page = await opened(screen);
        await page.getByRole('button', { name: `Show all ${harmed} that are affected` }).click();
        await soon(page, async () =>
          assert.equal(await rowsIn(page, 'Workloads in numbers'), harmed),
        );
        assert.deepEqual(fragmentOf(page).getAll('open'), ['all-workloads']);
        await page.getByLabel('Namespaces in numbers').getByRole('button').first().click();
        const ns = fragmentOf(page).get('ns') ?? assert.fail('no namespace');
        const again = await opened(screen, new URL(page.url()).hash);
        const names = again.getByLabel('Workloads in numbers').locator('tbody th');
        for (const text of await names.allTextContents()) assert.ok(text.startsWith(`${ns}/`));
        await again.getByRole('button', { name: 'Show all', exact: true }).click();
        await soon(again, async () =>
          assert.equal(await rowsIn(again, 'Workloads in numbers'), harmed),
        );
        await again.getByRole('button', { name: 'Show the first ten' }).click();
        await soon(again, async () => assert.equal(fragmentOf(again).size, 0));
        await page.close();
        await again.close();
      });
    });
  }
}
