import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { pathToFileURL } from 'node:url';
import axeCore from 'axe-core';
import type { Browser, Locator, Page } from 'playwright-core';
import { launchBrowser } from './browser.ts';
import { run } from './run.ts';

// The page of --report in a real browser. The names of what is simulated try to become markup.

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

interface Eviction {
  readonly at: number;
  readonly namespace: string;
  readonly pod: string;
  readonly because: readonly string[];
}

/** What of the JSON of the same simulation is looked at by name. Times are seconds. */
interface Document {
  readonly runs: readonly {
    readonly name: string;
    readonly evictions: readonly Eviction[];
    readonly refusals: readonly { readonly firstAt: number }[];
    readonly summary: {
      readonly workloads: readonly { readonly name: string; readonly downMax: number }[];
    };
  }[];
}

type WindowOptions = Parameters<Browser['newPage']>[0];

/** A page for as long as the tests of a file run. */
export interface ReportPage {
  readonly url: () => string;
  readonly data: () => Document;
  /** Every error, and every wish to load something, of all windows. */
  readonly faults: readonly string[];
  /** A new window with the page. */
  readonly opened: (options?: WindowOptions, fragment?: string) => Promise<Page>;
}

/** Makes one before the tests. */
export function reportPage(): ReportPage {
  let directory = '';
  let browser: Browser;
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
  });
  after(async () => {
    await browser?.close();
    if (directory) rmSync(directory, { recursive: true });
  });
  const opened = async (options: WindowOptions = {}, fragment = ''): Promise<Page> => {
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
    await opening.locator('.labels li, .scroller p').first().waitFor();
    return opening;
  };
  return { url: () => url, data: () => data, faults, opened };
}

export async function textOf(place: Locator): Promise<string> {
  return (await place.textContent()) ?? assert.fail('no text');
}

export function lane(of: Page, name: string): Locator {
  return of.locator('.label.lane button.name', { hasText: name });
}

/** The middle of what each of two variants draws in a lane: beside its label, or below it. */
export async function bandsIn(of: Page, name: string): Promise<readonly [number, number]> {
  const label = of.locator('.label.lane', { hasText: name }).first();
  const { y, height } = await boxOf(label);
  const { width } = await boxOf(of.locator('.content'));
  const isStacked = (await boxOf(label)).width > width / 2;
  // Two bands of 24 pixels below a label; the height of the label otherwise.
  const [top, drawn] = isStacked ? [y + height, 48] : [y, height];
  return [top + drawn / 4, top + (3 * drawn) / 4];
}

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export async function boxOf(place: Locator): Promise<Box> {
  return (await place.boundingBox()) ?? assert.fail('it is not shown');
}

/** What the address says of what is looked at. */
export function fragmentOf(of: Page): URLSearchParams {
  return new URLSearchParams(new URL(of.url()).hash.slice(1));
}

/** What the chart shows of the half hour, by the address. */
export async function viewOf(of: Page): Promise<readonly number[]> {
  await of.evaluate('new Promise(requestAnimationFrame)');
  return (fragmentOf(of).get('t') ?? '0-1800').split('-').map(Number);
}

/** Tries it again in each frame of the page until it holds: what was done is to be seen a frame or more later. */
export async function soon(of: Page, check: () => Promise<void>): Promise<void> {
  const latest = Date.now() + 60_000;
  for (;;) {
    try {
      return await check();
    } catch (reason) {
      if (Date.now() > latest) throw reason;
    }
    await of.evaluate('new Promise(requestAnimationFrame)');
  }
}

/** Resolves when nothing lies outside of a window of this width, of which the page may just have heard. */
export function fits(of: Page, width: number): Promise<void> {
  return soon(of, async () => {
    const wide = Number(await of.evaluate('document.documentElement.scrollWidth'));
    assert.ok(wide <= width, `${wide} pixels in a window of ${width}`);
  });
}

/** What axe-core finds; the policy of a page lets nothing in, a debugger may. */
export async function axeFindings(of: Page): Promise<unknown> {
  await of.evaluate(axeCore.source);
  return await of.evaluate(
    'axe.run().then(({ violations }) => violations.map(({ id, nodes }) => ' +
      '[id, ...nodes.map(({ html }) => html)].join(" ")))',
  );
}
