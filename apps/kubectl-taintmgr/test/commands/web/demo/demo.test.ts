import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser, BrowserContext, Page, Request } from 'playwright-core';
import { launchBrowser } from '../../../world/browser.ts';
import { axeFindings, fits, soon, textOf } from '../../../world/report-page.ts';
import { type Running, run, start } from '../../../world/run.ts';
import { until } from '../../../world/test-cluster.ts';

// The demo in a real browser: no cluster, and no kubeconfig.

let web: Running;
let browser: Browser;
let context: BrowserContext;
let page: Page;
const faults: string[] = [];

before(async () => {
  web = start(['web', '--demo']);
  await until('the address', () => web.output.outText.includes('\n'));
  browser = await launchBrowser();
  context = await browser.newContext({ viewport: { width: 1400, height: 900 } });
  page = await context.newPage();
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('console', (message) => faults.push(message.text()));
  await page.goto(web.output.outText.trim());
  await page.locator('.buttons').waitFor();
});
after(async () => {
  web?.interrupt();
  await browser?.close();
});

const button = (name: string) => page.getByRole('button', { name, exact: true });

/** A figure of a side, such as `Pods down now`. */
function figure(rules: string, name: string) {
  const side = page.getByRole('region', { name: rules });
  return side.locator('.score div', { hasText: name }).locator('dd').first();
}

async function shows(rules: string, name: string, expected: RegExp): Promise<void> {
  await soon(page, async () => assert.match(await textOf(figure(rules, name)), expected));
}

describe('web --demo', () => {
  it('says what one sees, and what each button does', async () => {
    assert.equal(
      await textOf(page.locator('h1')),
      'Two simulated clusters, the same accident, two sets of rules.',
    );
    const acts = await page.locator('.press').allTextContents();
    assert.equal(acts.length, 4);
    for (const text of acts) assert.match(text, /\.$/);
    await shows('taintmgr', 'Pods down now', /^0$/);
  });

  it('lets time pass where nothing else changes', async () => {
    await soon(page, async () => assert.match(await textOf(page.locator('.clock')), /[1-9]:\d\d$/));
  });

  it('plays a wrong taint on both sides, and takes it back', async () => {
    await button('A wrong taint on every node').click();
    await shows('kube-controller-manager', 'Pods down now', /^45$/);
    await shows('taintmgr', 'Evictions so far', /^[1-7]$/);
    await soon(page, async () =>
      assert.match(
        await textOf(page.locator('h1')),
        /^Pods down now: 45 with kube-controller-manager, [1-7] with taintmgr\.$/,
      ),
    );
    await page.getByRole('status').getByText('Now remove the wrong taint.').waitFor();
    await button('Remove the wrong taint').click();
    await button('A wrong taint on every node').waitFor();
    await page.getByRole('status').getByText('The wrong taint is gone').waitFor();
    await shows('kube-controller-manager', 'Pods down now', /^0$/);
  });

  it('lets a zone die: countdowns run on both sides, and a restart forgets one of them', async () => {
    await button('A zone dies').click();
    await shows('kube-controller-manager', 'Next to leave', /^15 pods, the first in/);
    await shows('taintmgr', 'Next to leave', /^15 pods, the first in/);
    await button('Pause').click();
    await button('Resume').waitFor();
    await page.getByText('Time stands still: press Resume.').waitFor();
    assert.equal(await page.locator('li.node.down').count(), 12);
    await button('Restart the controllers').click();
    await page.getByRole('status').getByText('starts every countdown again').waitFor();
    await button('Resume').click();
    await button('The zone comes back').click();
    await button('A zone dies').waitFor();
  });

  it('drains a zone', async () => {
    await button('Drain a zone').click();
    await button('End the drain').waitFor();
    await soon(page, async () => assert.equal(await page.locator('li.node.tainted').count(), 12));
  });

  it('goes faster, and begins again', async () => {
    const fast = page.getByRole('button', { name: '300 times faster than a clock' });
    await fast.click();
    await page.locator('button[aria-pressed=true]', { hasText: '300×' }).waitFor();
    await button('Start again').click();
    await soon(page, async () =>
      assert.match(await textOf(page.locator('h1')), /^Two simulated clusters/),
    );
    assert.equal(await page.locator('.press.on').count(), 0);
  });

  it('leaves its connection to other tabs while its own is hidden', async () => {
    const turn = (hidden: boolean): Promise<unknown> =>
      page.evaluate(
        `Object.defineProperty(document, 'hidden', { value: ${hidden}, configurable: true });
        document.dispatchEvent(new Event('visibilitychange'))`,
      );
    const isStream = (request: Request): boolean => request.resourceType() === 'eventsource';
    const ended = page.waitForEvent('requestfailed', isStream);
    await turn(true);
    await ended;
    const opened = page.waitForEvent('request', isStream);
    await turn(false);
    await opened;
    await soon(page, async () => assert.match(await textOf(page.locator('.clock')), /[1-9]:\d\d$/));
  });

  for (const [width, height] of [
    [1920, 1080],
    [1400, 900],
    [800, 900],
    [390, 844],
  ] as const) {
    for (const colorScheme of ['light', 'dark'] as const) {
      it(`is accessible and fits at ${width}x${height}, ${colorScheme}`, async () => {
        await page.setViewportSize({ width, height });
        await page.emulateMedia({ colorScheme });
        await fits(page, width);
        assert.deepEqual(await axeFindings(page), []);
      });
    }
  }

  it('shows both sides and every button at once on a laptop', async () => {
    await page.setViewportSize({ width: 1400, height: 900 });
    await fits(page, 1400);
    const tall = Number(await page.evaluate('document.documentElement.scrollHeight'));
    assert.ok(tall <= 900, `${tall} pixels`);
  });

  it('lets nobody press who was not let in, and knows its buttons', async () => {
    const address = new URL('/press?act=zone', page.url()).href;
    const stranger = await browser.newContext();
    assert.equal((await stranger.request.get(address)).status(), 403);
    await stranger.close();
    assert.equal((await page.request.get(new URL('/press?act=no', page.url()).href)).status(), 400);
    assert.equal(
      (await page.request.get(new URL('/what-if?event=down', page.url()).href)).status(),
      404,
    );
  });

  it('ends with 130 at Ctrl-C, and the page says so', async () => {
    assert.deepEqual(faults, []);
    web.interrupt();
    assert.equal((await web.result).code, 130);
    await page.locator('.stale', { hasText: 'The demo has ended' }).waitFor();
  });
});

const refused: readonly (readonly [args: readonly string[], flag: string])[] = [
  [['--context', 'prod'], 'context'],
  [['--kubeconfig', 'here'], 'kubeconfig'],
  [['-n', 'shop'], 'namespace'],
  [['--policy', 'policies'], 'policy'],
  [['--insecure-skip-tls-verify'], 'insecure-skip-tls-verify'],
];

describe('web --demo and a cluster', () => {
  for (const [args, flag] of refused) {
    it(`refuses ${args[0]}`, async () => {
      const { code, out, err } = await run('web', '--demo', ...args);
      assert.deepEqual([code, out], [1, '']);
      assert.equal(
        err.trim(),
        `error: --demo plays two simulated clusters and takes no --${flag}; ` +
          `leave out --demo to see your own cluster, or --${flag} to see the demo`,
      );
    });
  }
});
