import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { installDefinitions } from '@taintmgr/api-server';
import { customResourceDefinitions } from '@taintmgr/k8s-adapter/kinds';
import type { EachDocument, WhatIfLine } from '@taintmgr/page';
import { deployment, pdb } from '@taintmgr/sim-cluster';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import type { Output } from '../../../src/cli/output.ts';
import { WhatIfAnswers } from '../../../src/commands/web/what-if.ts';
import { runProgram } from '../../../src/program.ts';
import { launchBrowser } from '../../world/browser.ts';
import { axeFindings, fits, soon } from '../../world/report-page.ts';
import { type Running, start } from '../../world/run.ts';
import { startTestCluster, type TestCluster, until } from '../../world/test-cluster.ts';

// What would happen, asked on the page of a live cluster whose controller evicts by the eviction API.

let cluster: TestCluster;
let web: Running;
let browser: Browser;
let context: BrowserContext;
let page: Page;
const faults: string[] = [];

before(async () => {
  cluster = await startTestCluster({
    ...{ region: 'r1', zones: ['a', 'b'], nodesPerZone: 2 },
    workloads: [deployment('shop', 'web', { replicas: 4 })],
    budgets: [pdb('shop', 'web', { maxUnavailable: 1 })],
  });
  await installDefinitions(cluster.api, customResourceDefinitions());
  actAs('taintmgr-0', { mode: 'evict' });
  web = start(['web', '--kubeconfig', cluster.kubeconfig]);
  await until('the address', () => web.output.outText.includes('\n'));
  browser = await launchBrowser();
  context = await browser.newContext({ viewport: { width: 1400, height: 900 } });
  page = await context.newPage();
  page.setDefaultTimeout(120_000);
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('console', (message) => faults.push(message.text()));
  await page.goto(web.output.outText.trim());
});
after(async () => {
  web?.interrupt();
  await browser?.close();
  await cluster?.stop();
});

/** Sends a heartbeat of the leader: the settings of one that is silent for a minute do not count. */
let beat = (): void => {};

/** taintmgr-controller leads, by its lease and by what it publishes. */
function actAs(leader: string, settings: object): void {
  const { api } = cluster;
  const now = new Date().toISOString();
  const renewed = now.replace('Z', '000Z');
  const times = { leaseDurationSeconds: 3600, acquireTime: renewed, renewTime: renewed };
  const metadata = { name: 'taintmgr-controller', namespace: 'kube-system' };
  api.create('leases', { metadata, spec: { holderIdentity: leader, ...times } });
  const managers = 'taintmanagers.taintmgr.dev';
  const manager = { apiVersion: 'taintmgr.dev/v1alpha1', kind: 'TaintManager' };
  api.create(managers, { ...manager, metadata: { name: 'taintmgr' } });
  const controllers = ['taint-eviction-controller'];
  beat = () => {
    const made = api.get(managers, '', 'taintmgr');
    assert.ok(made);
    const renewTime = new Date().toISOString();
    api.update(
      managers,
      { ...made, status: { leader, renewTime, settings, controllers } },
      'status',
    );
  };
  beat();
}

const form = () => page.getByRole('form', { name: 'What if' });

async function ask(where: string, event: string): Promise<void> {
  beat();
  await fillIn(where, event);
  await form().getByRole('button', { name: 'Play it' }).click();
}

async function fillIn(where: string, event: string): Promise<void> {
  const isOpen = await form().isVisible();
  if (!isOpen) await page.locator('.what-if summary').click();
  await form().getByLabel('What happens').selectOption(event);
  if (where !== '') await form().getByLabel('Zone or node').selectOption(where);
}

/** The lines of what the loss of each zone, or node, does. */
function forecast(each: 'zone' | 'node') {
  return page.getByRole('region', { name: `If a ${each} died now` });
}

describe('what if', () => {
  it('is answered on a quiet cluster before anybody asks, for each zone and each node', async () => {
    await forecast('zone').locator('li').first().waitFor();
    const [first = ''] = await forecast('zone').locator('li').allTextContents();
    assert.match(first, /^zone r1\/[ab]: shop\/web 2 of 4 down(,| for) /);
    const sentence = (await page.locator('h1').textContent()) ?? '';
    assert.equal(sentence, `No pod will leave. If ${first.replace(':', ' died now:')}.`);
    await forecast('node').locator('li').first().waitFor();
    assert.match(
      (await forecast('node').textContent()) ?? '',
      /^If a node died nownode [ab]-[12]: shop\/web 1 of 4 down for \dm/,
    );
    const who = (await page.locator('.result').textContent()) ?? '';
    assert.match(who, /taintmgr-controller evicts here, leader taintmgr-0 since \d\d:\d\d:\d\d\./);
  });

  it('keeps these answers for whoever opens the page again, and plays them again when asked', async () => {
    const playedAt = async (): Promise<string> =>
      /Played at ([\d:]+)/.exec((await forecast('node').textContent()) ?? '')?.[1] ?? '';
    await forecast('node').getByText('Played at').waitFor();
    const before = await playedAt();
    await page.reload();
    await forecast('node').getByText('Played at').waitFor();
    assert.equal(await playedAt(), before);
    // Played within the same second, the answers have the same time: then once more.
    const again = forecast('node').getByRole('button', { name: 'Play again' });
    await soon(page, async () => {
      await again.click();
      await again.waitFor();
      assert.notEqual(await playedAt(), before);
    });
  });

  it('is printed with its answers and without its form', async () => {
    await page.emulateMedia({ media: 'print' });
    assert.ok(await forecast('node').locator('li').first().isVisible());
    assert.equal(await form().isVisible(), false);
    await page.emulateMedia({ media: 'screen' });
  });

  it('has a heat map of them, and plays one of them alone at a click', async () => {
    await forecast('zone').getByRole('link', { name: 'Heat map' }).click();
    await page.locator('.heat-map').waitFor();
    await page.goBack();
    await forecast('node').locator('li button').first().click();
    await page.waitForURL(/\/what-if\/\d+/);
    const command = (await page.locator('header code').textContent()) ?? '';
    assert.match(
      command,
      /simulate --event '\{at: 1m, stopKubelet: \{node: [ab]-[12]\}\}' --until 30m$/,
    );
    await page.getByRole('link', { name: 'back to the cluster as it is' }).click();
  });

  it('has a form that can be sent as it comes', async () => {
    await form().waitFor();
    const all = '[...document.querySelectorAll(".what-if select")].map(({ value }) => value)';
    const values = await page.evaluate(all);
    assert.deepEqual(values, ['zone r1/a', 'down', '10m', '30m']);
    const ends = await form().getByLabel('For').locator('option').allTextContents();
    assert.equal(ends.at(-1), 'forever');
    await form().getByLabel('What happens').selectOption('it gets a taint');
    const taint = form().getByRole('textbox', { name: 'Taint' });
    assert.equal(await taint.inputValue(), 'maintenance=true:NoExecute');
    await form().getByLabel('What happens').selectOption('its machines die');
  });

  it('is played in a copy of the cluster, by the settings of who acts there, and has a page', async () => {
    await ask('node a-1', 'it is drained, as by kubectl drain');
    await page.waitForURL(/\/what-if\/\d+/);
    assert.match(
      (await page.locator('h1').textContent()) ?? '',
      /^Pods of shop\/web are down for \S+ after “drain a-1” at 0:01:00, at most \d+ of \d+ at once\.$/,
    );
    const command = (await page.locator('header code').textContent()) ?? '';
    assert.equal(
      command,
      "kubectl taintmgr simulate --event '{at: 1m, drain: {node: a-1}, lasts: 10m}' --until 30m",
    );
    const response = await page.request.get(page.url());
    const policy = response.headers()['content-security-policy'] ?? '';
    assert.match(policy, /^default-src 'none'; script-src 'sha256-[^']*'; style-src 'sha256-/);
    assert.doesNotMatch(policy, /connect-src/);
    await page.getByRole('link', { name: 'back to the cluster as it is' }).click();
    await page.locator('.what-if').waitFor();
  });

  it('is by the eviction API where the controller is set up so, and a taint is one', async () => {
    await form().getByLabel('What happens').selectOption('it gets a taint');
    await form().getByRole('textbox', { name: 'Taint' }).fill('kernel=old:NoExecute');
    await ask('zone r1/a', 'it gets a taint');
    await page.waitForURL(/\/what-if\/\d+/);
    await page.locator('.labels li').first().waitFor();
    await page.locator('.label.lane button.name', { hasText: 'shop/web' }).first().click();
    const why = (await page.locator('.why').textContent()) ?? '';
    assert.match(why, /evicted.*by the eviction API, which asks budgets/);
    await page.getByRole('link', { name: 'back to the cluster as it is' }).click();
  });

  it('says what is wrong with a question, and what is allowed', async () => {
    const { origin } = new URL(page.url());
    // What only changes the fragment loads no page.
    await page.goto('about:blank');
    await page.goto(`${origin}/#ask=event%3Ddown%26where%3Dzone%2Br1%2Fc%26until%3D30m`);
    const alert = form().getByRole('alert');
    await alert.waitFor();
    assert.equal(
      await alert.textContent(),
      'zone or node: got "zone r1/c", want one of zone r1/a, zone r1/b, did you mean r1/a? Change it, and ask again.',
    );
  });

  it('asks for no place where there is none, and compares', async () => {
    await form().getByLabel('What happens').selectOption('the controller is restarted');
    assert.equal(await form().getByLabel('Zone or node').count(), 0);
    await form().getByRole('checkbox').check();
    await ask('', 'the controller is restarted');
    await page.waitForURL(/\/what-if\/\d+/);
    const text = (await page.locator('header').textContent()) ?? '';
    assert.match(
      text,
      /No pod is down\.0 evictions with kube-controller-manager, 0 with taintmgr\.$/,
    );
    assert.match(text, /--event '\{at: 1m, restartController: \{\}\}' --until 30m --compare/);
    await page.goBack();
    await page.locator('.what-if').waitFor();
  });

  it('loses each node in turn: a heat map, from which one of them is played alone', async () => {
    await ask('each node', 'its machines die');
    assert.equal(await form().getByRole('checkbox').count(), 0);
    assert.equal(await form().getByLabel('For').count(), 0);
    await page.waitForURL(/\/what-if\/\d+/);
    const sentence = (await page.locator('h1').textContent()) ?? '';
    const [, node = ''] =
      /^The loss of node (\S+) hurts most: pods of shop\/web are /.exec(sentence) ?? [];
    assert.ok(['a-1', 'a-2', 'b-1', 'b-2'].includes(node), sentence);
    const command = page.locator('header code');
    assert.equal(
      await command.textContent(),
      'kubectl taintmgr simulate --each node --by down --until 30m',
    );
    assert.equal(await page.locator('.heat-map tbody tr').count(), 4);
    await page.locator('.heat-map tbody th').first().click();
    await page.getByRole('link', { name: 'Play this alone' }).click();
    await page.waitForURL(/\/what-if\/\d+/);
    assert.equal(
      await command.textContent(),
      `kubectl taintmgr simulate --event '{at: 1m, stopKubelet: {node: ${node}}}' --until 30m`,
    );
    // It is asked once: who goes back is on the page of the cluster.
    await page.goBack();
    await form().waitFor();
    assert.equal(new URL(page.url()).hash, '');
  });

  it('shows the losses that are done when it is stopped', async () => {
    await fillIn('each node', 'its machines die');
    // A day of each: there is time to stop after the first.
    await page.evaluate(`{
      const form = document.querySelector('.what-if form');
      form.until.options[0].value = '24h';
      form.until.selectedIndex = 0;
      new MutationObserver(() => {
        if (!/^[1-3] of 4 losses/.test(form.querySelector('output')?.textContent ?? '')) return;
        [...form.querySelectorAll('button')].find(({ textContent }) => textContent === 'Stop').click();
      }).observe(form, { childList: true, subtree: true, characterData: true });
    }`);
    await form().getByRole('button', { name: 'Play it' }).click();
    await page.waitForURL(/\/what-if\/\d+/);
    const text = (await page.locator('header').textContent()) ?? '';
    assert.match(text, /Stopped after \d of 4: not played are /);
    await page.goBack();
    await page.locator('.what-if').waitFor();
  });

  it('is said to be busy to a second window, and stops when the first one goes away', async () => {
    const other = await context.newPage();
    await other.goto(new URL('/', page.url()).href);
    const query = 'event=down&where=each+node&until=24h';
    const busy = await other.evaluate(`(async () => {
      const away = new AbortController();
      const first = await fetch('what-if?${query}', { signal: away.signal });
      const second = await fetch('what-if?${query}');
      const said = [first.status, second.status, await second.text()];
      away.abort();
      return said;
    })()`);
    const next = {
      kind: 'error',
      text: 'another question is being played',
      next: 'Wait until it is.',
    };
    assert.deepEqual(busy, [200, 429, `${JSON.stringify(next)}\n`]);
    // The one that was stopped is in nobody's way.
    await other.evaluate(`(async () => {
      for (;;) {
        const { status } = await fetch('what-if?event=nothing&until=1m');
        if (status !== 429) return;
      }
    })()`);
    await other.close();
  });

  it('is gone when there are many newer ones, and says so', async () => {
    const response = await page.request.get(new URL('/what-if/77', page.url()).href);
    assert.equal(response.status(), 404);
    assert.match(await response.text(), /not kept any more: ask again/);
  });

  for (const [width, height] of [
    [1400, 900],
    [800, 900],
    [390, 844],
  ] as const) {
    it(`is accessible and fits at ${width}x${height}`, async () => {
      await page.goto(new URL('/', page.url()).href);
      await page.setViewportSize({ width, height });
      await forecast('node').locator('li').first().waitFor();
      await fits(page, width);
      assert.deepEqual(await axeFindings(page), []);
    });
  }

  it('wrote nothing, and the page had no fault but the question that was wrong', () => {
    assert.deepEqual(
      cluster.answers.filter((line) => !line.startsWith('GET ')),
      [],
    );
    assert.deepEqual(
      faults.filter((text) => !/status of (400|429)/.test(text)),
      [],
    );
  });
});

describe('the answers to what if', () => {
  let server: Server;
  let answers: WhatIfAnswers;
  before(async () => {
    server = createServer((request, response) => {
      const { searchParams } = new URL(request.url ?? '/', 'http://localhost');
      void answers.answer(searchParams, response, {});
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
  });
  after(() => {
    server.close();
    server.closeAllConnections();
  });

  async function answersTo(query: string): Promise<readonly WhatIfLine[]> {
    const { port } = server.address() as AddressInfo;
    const sent = get({ port, host: '127.0.0.1', path: `/?${query}` });
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    let text = '';
    for await (const chunk of response.setEncoding('utf8')) text += chunk;
    return text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
  }

  const question = 'event=failover&until=30m';
  const eachNode = 'event=drain&where=each+node&until=24h';
  const asked = () => ({ nodes: [], rules: 'taintmgr-controller', policies: [] }) as const;

  /** Those that run our commands on the cluster of that kubeconfig; `hear` is told how far each is. */
  function answersOf(
    kubeconfig: string,
    lastsMsMax?: number,
    hear: (text: string) => void = () => {},
  ): WhatIfAnswers {
    const interrupt = new AbortController().signal;
    const heard = (output: Output): Output => {
      const live = async () => {
        const block = await output.live();
        const show = (text: string): void => {
          block?.show(text);
          hear(text);
        };
        return block && { show, clear: () => block.clear() };
      };
      // Its fields are of a class.
      return Object.assign(Object.create(output), { live });
    };
    const rerun: ConstructorParameters<typeof WhatIfAnswers>[0]['rerun'] = (
      args,
      { output, ...rest },
    ) => runProgram([`--kubeconfig=${kubeconfig}`, ...args], { output: heard(output), ...rest });
    return new WhatIfAnswers({ rerun, interrupt, asked }, lastsMsMax);
  }

  it('end when they take too long, with a way that has no such end', async () => {
    answers = answersOf(cluster.kubeconfig, 1);
    const last = (await answersTo(question)).at(-1);
    assert.deepEqual(last, {
      kind: 'error',
      text: 'it takes longer than 0s',
      next: "Look less far ahead, or run it in a terminal: kubectl taintmgr simulate --event '{at: 1m, failover: {}}' --until 30m",
    });
  });

  it('of many losses say that none is done', async () => {
    answers = answersOf(cluster.kubeconfig, 1);
    const last = (await answersTo(eachNode)).at(-1);
    assert.deepEqual(last, {
      kind: 'error',
      text: 'it takes longer than 0s',
      next: 'Look less far ahead, or run it in a terminal: kubectl taintmgr simulate --each node --by drain --until 24h',
    });
  });

  it('of many losses show those that are done when they are stopped', async () => {
    answers = answersOf(cluster.kubeconfig, undefined, (text) => {
      if (text.startsWith('1 of 4 losses')) answers.stop();
    });
    const lines = await answersTo(eachNode);
    const last = lines.at(-1);
    assert.equal(last?.kind === 'page' && last.address, 'what-if/1');
    const { html = '' } = answers.page('1') ?? {};
    const [, data = ''] = /id="data">([^<]*)</.exec(html) ?? [];
    const document: EachDocument = JSON.parse(gunzipSync(Buffer.from(data, 'base64')).toString());
    const { losses, unplayed } = document;
    const names = [...losses.map(({ name }) => name), ...unplayed];
    assert.deepEqual(names.sort(), ['a-1', 'a-2', 'b-1', 'b-2']);
    assert.ok(losses.length > 0 && unplayed.length > 0, `${unplayed}`);
    // Nothing is left to stop.
    answers.stop();
  });

  it('say why there is none in the words of the command', async () => {
    answers = answersOf('/nowhere/kubeconfig');
    const last = (await answersTo(question)).at(-1);
    assert.ok(last?.kind === 'error');
    assert.match(last.text, /\/nowhere\/kubeconfig/);
    assert.match(last.next, /^The same in a terminal: kubectl taintmgr simulate/);
  });

  it('say how far they are, and keep the pages of the last eight', async () => {
    answers = answersOf(cluster.kubeconfig);
    for (let turn = 1; turn <= 9; turn++) {
      const lines = await answersTo('event=failover&until=1m30s');
      assert.deepEqual(lines.at(-1), { kind: 'page', address: `what-if/${turn}` });
    }
    assert.equal(answers.page('1'), null);
    assert.match(answers.page('2')?.html ?? '', /^<!doctype html>/);
  });
});
