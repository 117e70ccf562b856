import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { pod, toleration } from '@taintmgr/sim-cluster';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { launchBrowser } from '../../world/browser.ts';
import {
  axeFindings,
  boxOf,
  fits,
  fragmentOf,
  lane,
  soon,
  textOf,
} from '../../world/report-page.ts';
import { type Running, run, start } from '../../world/run.ts';
import { fillShop, keepRenewing } from '../../world/shop-cluster.ts';
import { startTestCluster, type TestCluster, until } from '../../world/test-cluster.ts';

// The live page of a cluster in which nobody acts, in a real browser.

let cluster: TestCluster;
let web: Running;
let browser: Browser;
let context: BrowserContext;
let page: Page;
let endRenewing = (): void => {};
const faults: string[] = [];

before(async () => {
  cluster = await startTestCluster(null);
  fillShop(cluster);
  endRenewing = keepRenewing(cluster);
  // It left before the page was opened; its name is no more than a text.
  const leftAt = `${new Date(Date.now() - 600_000).toISOString().slice(0, 19)}Z`;
  cluster.api.create('events', {
    metadata: { namespace: 'shop', name: 'gone-1.evicted' },
    involvedObject: { kind: 'Pod', namespace: 'shop', name: 'gone-1' },
    ...{ reason: 'TaintManagerEviction', message: 'Marking for deletion Pod shop/gone-1' },
    ...{ type: 'Normal', count: 1, source: { component: '<img src=x onerror=alert(1)>' } },
    ...{ firstTimestamp: leftAt, lastTimestamp: leftAt },
  });
  web = start(['web', '--kubeconfig', cluster.kubeconfig]);
  await until('the address', () => web.output.outText.includes('\n'));
  browser = await launchBrowser();
  context = await browser.newContext({ viewport: { width: 1400, height: 900 } });
});
after(async () => {
  endRenewing();
  web?.interrupt();
  await browser?.close();
  await cluster?.stop();
});

function address(): string {
  return web.output.outText.trim();
}

/** A window of the browser that was let in. */
async function opened(url: string = new URL('/', address()).href): Promise<Page> {
  const opening = await context.newPage();
  opening.on('pageerror', (error) => faults.push(error.message));
  opening.on('console', (message) => faults.push(message.text()));
  await opening.goto(url);
  await opening.locator('.labels li').first().waitFor();
  return opening;
}

/** The status of the answer to a request that no browser sends. */
async function statusOf(path: string, options: object = {}): Promise<number | undefined> {
  const sent = request(new URL(path, address()), options);
  sent.end();
  const [response] = await once(sent, 'response');
  response.resume();
  return response.statusCode;
}

describe('web', () => {
  it('serves nobody without its token, under another name, or who wants to write', async () => {
    assert.match(address(), /^http:\/\/127\.0\.0\.1:\d+\/\?token=[\w-]{43}$/);
    assert.equal(await statusOf('/'), 403);
    assert.equal(await statusOf('/events'), 403);
    assert.equal(await statusOf(address(), { headers: { host: 'evil.example' } }), 403);
    assert.equal(await statusOf(address(), { method: 'POST' }), 405);
    assert.match(web.output.errText, /^Open this address in a browser; it works once\. Ctrl-C/);
  });

  it('says first who is due, who is next and who acts', async () => {
    page = await opened(address());
    const sentence = await textOf(page.locator('h1'));
    assert.match(
      sentence,
      /^\d pods are due and blocked; next to leave: shop\/db-0 on node-a1, in 4d\d+h\.$/,
    );
    const who = await textOf(page.locator('.result'));
    assert.ok(
      who.includes('taintmgr-controller evicts here, leader taintmgr-controller-0_1.'),
      who,
    );
    const isFolded = (await page.locator('.what-if').getAttribute('open')) === null;
    assert.ok(isFolded, 'who leaves next comes first');
    const row = page.locator('tr', { hasText: 'shop/web-1' });
    assert.match(await textOf(row), /overdue by 2d3h.*node-a1.*taintmgr-controller.*PDB web/);
    assert.equal(new URL(page.url()).search, '', 'the token is not in the address any more');
    const strip = await page.locator('.overview path.pending').getAttribute('d');
    assert.match(strip ?? '', /^M0,34(H[\d.e-]+V[\d.e-]+H[\d.e-]+)+V34Z$/, 'numbers go in steps');
  });

  it('leads to who left lately', async () => {
    await page.getByRole('button', { name: /^Left lately: / }).click();
    const heading = page.getByRole('heading', { name: 'Who left lately' });
    await soon(page, async () => assert.ok((await boxOf(heading)).y < 900));
  });

  it('shows all of a text that is cut to who points at it', async () => {
    const cut = page.locator('tr', { hasText: 'shop/web-2' }).locator('td:last-child .cut');
    const tall = (await boxOf(cut)).height;
    await page.setViewportSize({ width: 800, height: 900 });
    assert.equal((await boxOf(cut)).height, tall, 'one line');
    await cut.hover();
    assert.ok((await boxOf(cut)).height > tall);
    await page.mouse.move(0, 0);
    await page.locator('tr', { hasText: 'shop/web-2' }).getByRole('button').focus();
    assert.ok((await boxOf(cut)).height > tall);
    await page.setViewportSize({ width: 1400, height: 900 });
  });

  it('says why a pod is to leave at a click in the table', async () => {
    await page.locator('.numbers').getByRole('button', { name: 'shop/db-0' }).click();
    assert.match(
      await textOf(page.locator('.why')),
      /tolerates maintenance=kernel:NoExecute for 7d/,
    );
    await page.getByRole('button', { name: 'Close' }).click();
  });

  it('tells another browser, as a page, why it is not let in', async () => {
    const stranger = await browser.newPage();
    const response = (await stranger.goto(address())) ?? assert.fail();
    assert.equal(response.status(), 403);
    assert.match(
      await textOf(stranger.locator('main')),
      /open in another browser.*run it again\.$/,
    );
    assert.deepEqual(await axeFindings(stranger), []);
    await stranger.close();
  });

  it('works once by its address, and for this browser goes on', async () => {
    assert.equal(await statusOf(address()), 403);
    const again = await opened();
    assert.match(await textOf(again.locator('h1')), /next to leave/);
    await again.close();
  });

  it('may run nothing but what is in it', async () => {
    const response = (await page.request.get(new URL('/', address()).href)) ?? assert.fail();
    const policy = response.headers()['content-security-policy'] ?? '';
    assert.match(
      policy,
      /^default-src 'none'; script-src 'sha256-[^']*'; style-src 'sha256-[^']*'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
    );
    assert.equal(response.headers()['access-control-allow-origin'], undefined);
  });

  it('says why at a click, in the words of explain', async () => {
    await lane(page, 'shop/web-1').click();
    const why = await textOf(page.locator('.why'));
    const explained = await run(
      'explain',
      'pod',
      'web-1',
      '-n',
      'shop',
      '--kubeconfig',
      cluster.kubeconfig,
    );
    for (const text of [
      'no toleration for maintenance=kernel:NoExecute',
      'The disruption budget web needs 3 healthy pods',
    ]) {
      assert.ok(why.includes(text), why);
      assert.ok(explained.out.includes(text), explained.out);
    }
    assert.match(why, /evicted bytaintmgr-controller/);
    await page.getByRole('button', { name: 'Close' }).click();
  });

  it('lists who left before it was opened, and tells a story in the very words of history', async () => {
    const row = page.locator('tr', { hasText: 'shop/gone-1' });
    assert.match(await textOf(row), /<img src=x onerror=alert\(1\)>, as an Event Taint/);
    await row.getByRole('button').click();
    const told = await textOf(page.locator('.why .lines'));
    const access = ['--kubeconfig', cluster.kubeconfig];
    const { out } = await run('history', 'pod', 'gone-1', '-n', 'shop', ...access);
    const timeless = (text: string): string => text.trim().replaceAll(/\([^()]* ago\)/g, '');
    assert.equal(timeless(told), timeless(out));
    assert.match(out, /^shop\/gone-1 was evicted/);
    assert.match(fragmentOf(page).get('why') ?? '', /^lane left /);
    await lane(page, 'shop/gone-1').waitFor();
    await page.getByRole('button', { name: 'Close' }).click();
    const numbers = await textOf(page.locator('.numbers'));
    assert.match(numbers, /Unknown before .*: Events of that time are deleted, after an hour/);
    assert.ok(await page.locator('.legend .untold').isVisible());
  });

  it('shows a pod that is to leave when it comes, and that it left when it is gone', async () => {
    const spec = {
      nodeName: 'node-a1',
      tolerations: [{ ...toleration('maintenance:NoExecute', 200_000) }],
    };
    cluster.api.create('pods', pod('shop', 'late-1', { labels: { app: 'late' }, spec }));
    await lane(page, 'shop/late-1').waitFor();
    assert.match(await textOf(lane(page, 'shop/late-1')), /in 2d\d+h/);
    cluster.api.delete('pods', 'shop', 'late-1', { gracePeriodSeconds: 0 });
    await lane(page, 'shop/late-1').waitFor({ state: 'detached' });
    await lane(page, 'What changed').click();
    assert.match(await textOf(page.locator('.why')), /shop\/late-1 is to leave no more/);
    await page.getByRole('button', { name: 'Close' }).click();
  });

  it('shows taints that come, and a zone when it is opened', async () => {
    await page.getByRole('button', { name: 'r1/zone-b: what is in it' }).click();
    const node = cluster.api.get('nodes', '', 'node-b2') ?? assert.fail('no node');
    const taints = [{ key: 'live', value: 'test', effect: 'NoExecute' }];
    cluster.api.update('nodes', { ...node, spec: { ...node.spec, taints } });
    await page.locator('.label.depth-1', { hasText: 'node-b2' }).waitFor();
    await lane(page, 'What changed').click();
    await page
      .locator('.why', { hasText: 'node node-b2 has the taint live=test:NoExecute' })
      .waitFor();
    await page.getByRole('button', { name: 'Close' }).click();
  });

  it('follows the present until one looks elsewhere, and again after Now', async () => {
    const now = page.getByRole('button', { name: 'Now', exact: true });
    assert.equal(await now.getAttribute('aria-pressed'), 'true');
    await page.getByRole('button', { name: 'All', exact: true }).click();
    assert.equal(await now.getAttribute('aria-pressed'), 'false');
    await now.click();
    assert.equal(await now.getAttribute('aria-pressed'), 'true');
    assert.doesNotMatch(page.url(), /t=/);
  });

  it('says that it is stale while the API server is away, and goes on when it is back', async () => {
    const stale = page.locator('.stale');
    assert.equal(await stale.count(), 0);
    cluster.api.faults.down = true;
    await stale.waitFor();
    assert.match(await textOf(stale), /^Stale since \d\d:\d\d:\d\d .*the cluster cannot be read/);
    assert.ok((await lane(page, 'shop/web-1').count()) > 0, 'what was read last stands');
    cluster.api.faults.down = false;
    await stale.waitFor({ state: 'detached' });
    await lane(page, 'What changed').click();
    assert.match(await textOf(page.locator('.why')), /the API server answers again/);
    await page.getByRole('button', { name: 'Close' }).click();
  });

  for (const [width, height] of [
    [1920, 1080],
    [1400, 900],
    [800, 900],
    [390, 844],
  ] as const) {
    for (const colorScheme of ['light', 'dark'] as const) {
      it(`is accessible and fits at ${width}x${height}, ${colorScheme}`, async () => {
        const own = await opened();
        await own.setViewportSize({ width, height });
        await own.emulateMedia({ colorScheme });
        await lane(own, 'shop/web-1').click();
        await fits(own, width);
        assert.deepEqual(await axeFindings(own), []);
        await own.close();
      });
    }
  }

  it('prints the sentence, every lane and the tables, light also from a dark screen', async () => {
    const own = await opened();
    await own.emulateMedia({ media: 'print', colorScheme: 'dark' });
    await own.evaluate('dispatchEvent(new Event("beforeprint"))');
    const lanes = await own.locator('.on-paper tbody th').allTextContents();
    for (const name of ['What changed', 'shop/web-1', 'shop/db-0', 'r1/zone-a'])
      assert.ok(
        lanes.some((text) => text.startsWith(name)),
        `${name} of ${lanes.join(' | ')}`,
      );
    for (const shown of ['h1', '.numbers table', '.legend'])
      assert.ok(await own.locator(shown).first().isVisible(), shown);
    assert.equal(await own.locator('.what-if').isVisible(), false);
    const background = await own.evaluate('getComputedStyle(document.body).backgroundColor');
    assert.equal(background, 'rgb(255, 255, 255)');
    await own.close();
  });

  it('leaves by its filters what is blocked, and keeps them in its address', async () => {
    const own = await opened(new URL('/#pods=blocked', address()).href);
    const pods = await own.locator('.numbers tbody th').allTextContents();
    assert.ok(pods.includes('shop/web-1') && !pods.includes('shop/db-0'), pods.join());
    await own.getByRole('button', { name: 'Show all' }).click();
    assert.equal(await lane(own, 'shop/db-0').count(), 1);
    assert.equal(new URL(own.url()).hash, '');
    await own.close();
  });

  it('ends with 130 at Ctrl-C, changed nothing, and the page says that it is old', async () => {
    assert.deepEqual(faults, []);
    web.interrupt();
    const { code } = await web.result;
    assert.equal(code, 130);
    const writes = cluster.answers.filter((line) => !line.startsWith('GET '));
    assert.deepEqual(writes, []);
    await page.locator('.stale', { hasText: 'nothing is heard of the program' }).waitFor();
  });

  it('refuses a port that is taken, and one that is none', async () => {
    const { port } = new URL(cluster.url);
    const taken = await run('web', '--port', port, '--kubeconfig', cluster.kubeconfig);
    assert.equal(taken.code, 1);
    assert.match(taken.err, /^error: --port: got \d+, want a free one \(.*EADDRINUSE/);
    const none = await run('web', '--port', '70000', '--kubeconfig', cluster.kubeconfig);
    assert.equal(none.code, 1);
    assert.match(none.err, /70000.*Want a whole number from 0 to 65535/);
  });
});
