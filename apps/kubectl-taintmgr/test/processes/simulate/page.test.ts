import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import {
  axeFindings,
  boxOf,
  fragmentOf,
  lane,
  reportPage,
  soon,
  textOf,
  viewOf,
} from '../../world/report-page.ts';

// The page of --report, held against the json of the same simulation.

const { url, data, faults, opened } = reportPage();

/** Every interaction is tried on each of these. */
const screens = (
  [
    [1400, 900],
    [800, 900],
    [390, 844],
  ] as const
).flatMap(([width, height]) =>
  (['light', 'dark'] as const).map((colorScheme) => {
    return { viewport: { width, height }, colorScheme };
  }),
);

it('has a policy by hashes, and nothing that is not in it', () => {
  const html = readFileSync(new URL(url()), 'utf8');
  const policy = /Content-Security-Policy" content="([^"]*)"/.exec(html)?.[1] ?? '';
  assert.match(policy, /^default-src 'none'; script-src 'sha256-[^']*'; style-src 'sha256-[^']*'/);
  assert.doesNotMatch(policy, /unsafe/);
});

for (const screen of screens) {
  const {
    viewport: { width: wide, height: high },
    colorScheme,
  } = screen;
  describe(`the page of a simulation at ${wide}x${high}, ${colorScheme}`, () => {
    let page: Page;
    before(async () => {
      page = await opened(screen);
    });

    it('opens with the result and the chart, and asks for nothing', async () => {
      const [first, other] = data().runs;
      const most = first?.summary.workloads.find(({ name }) => name === 'web')?.downMax;
      const sentence = await textOf(page.locator('h1'));
      assert.match(
        sentence,
        new RegExp(`^taintmgr: shop/web is partly down for .*at most ${most} of 12 pods`),
      );
      assert.match(sentence, /after “.*” at 0:\d\d:\d\d/);
      assert.equal(other?.name, 'kube-controller-manager');
      assert.match(sentence, /; kube-controller-manager: /);
      assert.match(await textOf(page.locator('.about')), /<script>alert\(1\)</);
      const { y } = await boxOf(page.locator('.content canvas'));
      assert.ok(y < high / 2, `the chart begins at ${y}`);
      assert.deepEqual(faults, []);
    });

    it('says why at a click on a mark, in the words of the json', async () => {
      const eviction = data().runs[0]?.evictions[0] ?? assert.fail('none');
      const canvas = page.locator('.content canvas');
      const { x, y, width } = await boxOf(canvas);
      const row = await boxOf(lane(page, 'shop/web').first());
      const place = x + (eviction.at / 1800) * (width - 30);
      await page.mouse.click(place, Math.max(y, row.y) + 30);
      const why = await textOf(page.locator('.why'));
      assert.ok(why.includes(`${eviction.namespace}/${eviction.pod} evicted`), why);
      assert.ok(why.includes(eviction.because.join('; ')), why);
      for (const fact of ['taintkernel=old:NoExecute', 'tolerationnone', 'policynone', 'attempts'])
        assert.ok(why.includes(fact), `${fact} in ${why}`);
      assert.match(why, /outcomeevicted, by the eviction API, which asks budgets/);
      const at = Number(fragmentOf(page).get('at'));
      assert.equal(at, eviction.at, 'the mark itself is pinned');
      const again = await opened(screen, new URL(page.url()).hash);
      assert.ok((await textOf(again.locator('.why'))).includes(`shop/${eviction.pod} evicted`));
      assert.equal(new URL(again.url()).hash, new URL(page.url()).hash);
      await again.close();
      await page.getByRole('button', { name: 'Close' }).click();
      await page.locator('.why').waitFor({ state: 'detached' });
      await soon(page, async () => assert.equal(fragmentOf(page).get('why'), null));
    });

    it('lists all that happened in a lane, by keyboard', async () => {
      await lane(page, 'shop/web').first().press('Enter');
      const why = await textOf(page.locator('.why'));
      for (const { pod, because } of data().runs[0]?.evictions ?? [])
        assert.ok(why.includes(`shop/${pod} evicted`) && why.includes(because.join('; ')), pod);
      const again = await opened(screen, new URL(page.url()).hash);
      assert.equal(await textOf(again.locator('.why')), why);
      await again.close();
      await page.locator('.scroller').press('Escape');
      await page.locator('.why').waitFor({ state: 'detached' });
    });

    it('goes from mark to mark by N and P', async () => {
      const own = await opened(screen);
      const scroller = own.locator('.scroller');
      await scroller.press('n');
      const begins = /0:01:00.*taint zone-a-1: kernel=old:NoExecute/;
      await soon(own, async () => assert.match(await textOf(own.locator('.why')), begins));
      const first = fragmentOf(own).get('at');
      await scroller.press('n');
      await soon(own, async () => assert.notEqual(fragmentOf(own).get('at'), first));
      await scroller.press('p');
      await soon(own, async () => assert.equal(fragmentOf(own).get('at'), first));
      await soon(own, async () => assert.match(await textOf(own.locator('.why')), begins));
      const again = await opened(screen, new URL(own.url()).hash);
      await soon(again, async () => assert.match(await textOf(again.locator('.why')), begins));
      assert.equal(await textOf(again.locator('.why')), await textOf(own.locator('.why')));
      await again.close();
      await own.close();
    });

    it('zooms by wheel, keys, buttons and brush, moves by dragging, and shows all again', async () => {
      const own = await opened(screen);
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
      const aPixel = 1800 / (strip.width - 30);
      assert.ok(from < 2 && Math.abs(until - 900) < 3 * aPixel, `${from}-${until}`);
      await own.close();
    });

    it('opens zones, nodes and pods, finds them, and is the same at its address', async () => {
      const own = await opened(screen);
      await own.getByRole('button', { name: 'zone-a: what is in it' }).click();
      await own.getByRole('button', { name: 'zone-a-1: what is in it' }).click();
      const podsIn = async (one: Page): Promise<number> => {
        // Only what is seen is there: the node goes to the top.
        await one.evaluate(`(() => {
          const scroller = document.querySelector('.scroller');
          const node = [...document.querySelectorAll('.label.depth-1')].find((label) => label.innerText.includes('zone-a-1'));
          scroller.scrollTop = node.offsetTop;
          return new Promise((seen) => requestAnimationFrame(() => requestAnimationFrame(seen)));
        })()`);
        return await one.locator('.label.depth-2').count();
      };
      await soon(own, async () => assert.ok((await podsIn(own)) > 0));
      await own.getByRole('button', { name: 'Zoom in' }).click();
      const fragment = new URL(own.url()).hash;
      const again = await opened(screen, fragment);
      await soon(again, async () => assert.equal(await podsIn(again), await podsIn(own)));
      assert.deepEqual(await viewOf(again), await viewOf(own));
      await again.getByLabel('Find').fill('zone-a-1');
      await soon(again, async () => {
        const labels = await again.locator('.label.lane .text').allTextContents();
        assert.ok(labels.some((text) => text.includes('zone-a-1')));
        assert.ok(!labels.some((text) => text.includes('infra/agent')));
      });
      await own.close();
      await again.close();
    });

    it('is accessible, and no wider than the window', async () => {
      const own = await opened(screen);
      await lane(own, 'shop/web').first().click();
      const pixels = await own.evaluate('document.documentElement.scrollWidth');
      assert.ok(Number(pixels) <= wide, `${pixels} pixels wide`);
      assert.deepEqual(await axeFindings(own), []);
      await own.close();
    });
  });
}
