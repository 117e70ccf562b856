import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startProcess } from '@taintmgr/controller/test/harness/running-process.ts';
import { startTestApi, type TestApi } from '@taintmgr/controller/test/harness/test-api.ts';
import {
  type Browser,
  type BrowserContext,
  launchBrowser,
} from '@taintmgr/kubectl-taintmgr/test/world/browser.ts';
import {
  axeFindings,
  fits,
  lane,
  textOf,
} from '@taintmgr/kubectl-taintmgr/test/world/report-page.ts';
import { node, pod, type Rule, toleration, type User } from '@taintmgr/sim-cluster';

// /ui of a controller that runs, in a real browser that shows who it is.

const everything: Rule = { verbs: ['*'], apiGroups: ['*'], resources: ['*'] };
const admin: User = { name: 'admin', groups: ['system:masters'], rules: [] };
const guest: User = { name: 'guest', groups: [], rules: [] };

describe('/ui of the controller in a browser', () => {
  let cluster: TestApi;
  let browser: Browser;
  const faults: string[] = [];
  before(async () => {
    cluster = await startTestApi([everything], { admin, guest });
    const { api } = cluster;
    api.create('namespaces', { metadata: { name: 'shop' } });
    api.create('nodes', node('n1'));
    const tolerations = [{ ...toleration('bad:NoExecute', 600) }];
    api.create('pods', pod('shop', 'web-1', { spec: { nodeName: 'n1', tolerations } }));
    api.create('pods', pod('shop', 'gone-1', { spec: { nodeName: 'n1' } }));
    browser = await launchBrowser();
  });
  after(async () => {
    await browser?.close();
    await cluster?.stop();
  });

  /** A browser behind a proxy that adds this token. */
  async function as(token: string): Promise<BrowserContext> {
    const extraHTTPHeaders = { authorization: `Bearer ${token}` };
    return await browser.newContext({ ignoreHTTPSErrors: true, extraHTTPHeaders });
  }

  it('shows what is due and why, follows what changes, is accessible, and reads only', async (t) => {
    const { kubeconfig, api } = cluster;
    const controller = await startProcess(t, {
      connection: { kubeconfig },
      flags: ['--controllers=taint-eviction-controller'],
    });
    const address = `https://127.0.0.1:${controller.port}/ui`;
    const n1 = api.get('nodes', '', 'n1') ?? assert.fail('no node');
    const taints = [{ key: 'bad', effect: 'NoExecute' }];
    api.update('nodes', { ...n1, spec: { ...n1.spec, taints } });
    await controller.saw('eviction scheduled', { pod: 'shop/web-1' });
    // It left before the page was opened.
    await controller.saw('evicted', { pod: 'shop/gone-1' });
    api.delete('pods', 'shop', 'gone-1', { gracePeriodSeconds: 0 });

    const refused = await (await as('guest')).newPage();
    assert.equal((await refused.goto(address))?.status(), 403);

    const page = await (await as('admin')).newPage();
    page.setDefaultTimeout(120_000);
    page.on('pageerror', (error) => faults.push(error.message));
    page.on('console', (message) => faults.push(message.text()));
    const methods = new Set<string>();
    page.on('request', (request) => methods.add(request.method()));
    await page.goto(address);
    await lane(page, 'shop/web-1').click();
    assert.match(await textOf(page.locator('h1')), /^Next to leave: shop\/web-1 on n1, in \d+m/);
    const why = await textOf(page.locator('.why'));
    assert.match(why, /tolerates bad:NoExecute for 10m/);
    assert.match(why, /evicted bytaintmgr-controller/);
    assert.equal(await page.locator('.what-if').count(), 0, 'it is no place for what-if');
    await page.locator('.texts').getByRole('button', { name: 'shop/gone-1' }).click();
    const told = await textOf(page.locator('.why'));
    assert.match(
      told,
      /shop\/gone-1 was evicted from n1 at .* by taintmgr-controller, for taint bad/,
    );
    const listed = page.locator('tr', { hasText: 'shop/gone-1' });
    assert.match(await textOf(listed), /n1taintmgr-controllerbad:NoExecute.*record of taintmgr/);
    for (const [width, height] of [
      [1400, 900],
      [800, 900],
      [390, 844],
    ] as const) {
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.setViewportSize({ width, height });
        await page.emulateMedia({ colorScheme });
        await fits(page, width);
        assert.deepEqual(await axeFindings(page), [], `${width} ${colorScheme}`);
      }
    }
    const tainted = api.get('nodes', '', 'n1') ?? assert.fail('no node');
    api.update('nodes', { ...tainted, spec: { ...tainted.spec, taints: [] } });
    await page.locator('h1', { hasText: 'No pod will leave.' }).waitFor();
    assert.deepEqual([...methods], ['GET']);
    assert.deepEqual(faults, []);
  });
});
