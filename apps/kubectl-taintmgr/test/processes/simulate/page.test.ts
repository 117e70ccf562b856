import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import {
  axeFindings,
  bandsIn,
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
    [1920, 1000],
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

    it('opens with the figures of both, the sentence and the chart, and asks for nothing', async () => {
      const [ours, upstream] = data().runs;
      const most = [upstream, ours].map((run) => {
        return run?.summary.workloads.find(({ name }) => name === 'web')?.downMax;
      });
      const figures = await page.locator('.figure').allTextContents();
      assert.match(
        figures[0] ?? '',
        new RegExp(`^kube-controller-manager.*s ${most[0]} of 12 pods`),
      );
      assert.match(figures[1] ?? '', new RegExp(`taintmgr.*s .*${most[1]} of 12 pods`));
      for (const figure of figures) assert.match(figure, /\d+ evictions$/);
      assert.equal(await textOf(page.locator('.headline > p')), 'Time with pods of shop/web down');
      const [one, other] = await Promise.all(
        [0, 1].map((at) => boxOf(page.locator('.figure').nth(at))),
      );
      assert.ok(one && other && other.y === one.y && other.x > one.x, 'side by side');
      const sentence = await textOf(page.locator('h1'));
      assert.match(
        sentence,
        /^Pods of shop\/web are down after “.*” at 0:\d\d:\d\d: \S+ with kube-controller-manager, \S+ with taintmgr/,
      );
      assert.match(await textOf(page.locator('.about').first()), /<script>alert\(1\)</);
      const { y } = await boxOf(page.locator('.content canvas'));
      assert.ok(y < high * 0.6, `the chart begins at ${y}`);
      const legend = await boxOf(page.getByLabel('Legend'));
      assert.ok(legend.y < y, 'the legend is above the chart');
      assert.deepEqual(faults, []);
    });

    it('names the acts of the script on the axis, and says what each of them does', async () => {
      const own = await opened(screen);
      const acts = own.locator('button.act');
      assert.deepEqual(await acts.locator('.text').allTextContents(), [
        'taint kernel=old on zone-a-1',
        'zone-b down',
      ]);
      const boxes = await Promise.all([0, 1].map((at) => boxOf(acts.nth(at))));
      for (const { x, width } of boxes) assert.ok(x >= 0 && x + width <= wide, 'nothing is cut');
      const tip = acts.nth(1).locator('.tip');
      assert.ok(!(await tip.isVisible()));
      await acts.nth(1).hover();
      assert.equal(await textOf(tip), '0:05:00 – 0:15:00 (10m): stop the kubelet of zone zone-b');
      assert.ok(await tip.isVisible());
      await acts.nth(0).focus();
      assert.ok(await acts.nth(0).locator('.tip').isVisible(), 'by keyboard, too');
      await acts.nth(0).press('Enter');
      const why = await textOf(own.locator('.why'));
      assert.match(why, /0:01:00 taint zone-a-1: kernel=old:NoExecute.*0:11:00 untaint zone-a-1/);
      assert.equal(fragmentOf(own).get('at'), '60');
      const again = await opened(screen, new URL(own.url()).hash);
      assert.equal(await textOf(again.locator('.why')), why);
      await again.close();
      const numbers = await textOf(own.locator('.numbers'));
      assert.ok(numbers.includes('0:05:00 – 0:15:00 (10m): stop the kubelet of zone zone-b'));
      await own.close();
    });

    it('has both variants in one lane, the second below the line', async () => {
      const own = await opened(screen);
      const label = await textOf(lane(own, 'shop/web').first());
      assert.match(label, /^shop\/web\s+kube-controller-manager \d+ of 12, .*taintmgr \d+ of 12, /);
      assert.equal(await own.locator('.label.bands', { hasText: 'shop/web' }).count(), 1);
      const [above, below] = await bandsIn(own, 'shop/web');
      const { x, width } = await boxOf(own.locator('.content canvas'));
      // While zone b is lost, on both sides.
      const place = x + (400 / 1800) * (width - 30);
      for (const [y, name, by] of [
        [above, 'kube-controller-manager', 'point'],
        [below, 'taintmgr', 'point/1'],
      ] as const) {
        await own.mouse.click(place, y);
        const heading = own.locator('.why h2');
        await soon(own, async () => assert.equal(await textOf(heading), `shop/web, ${name}`));
        assert.match(await textOf(own.locator('.why')), /\d+ of 12 down/);
        assert.equal(fragmentOf(own).get('why'), `${by} w Deployment shop/web`);
        const again = await opened(screen, new URL(own.url()).hash);
        assert.equal(await textOf(again.locator('.why h2')), `shop/web, ${name}`);
        await again.close();
        await own.getByRole('button', { name: 'Close' }).click();
      }
      await own.close();
    });

    it('says who made the page, and how it is made again', async () => {
      assert.equal(
        await page.getByRole('link', { name: 'taintmgr' }).first().getAttribute('href'),
        'https://github.com/taintmgr/taintmgr',
      );
      const made = await textOf(page.locator('footer'));
      assert.match(made, /taintmgr \d+\.\d+\.\d+ simulated .* with seed 1\./);
      assert.match(made, /Its clock shows \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC at 0:00:00\./);
      assert.match(
        made,
        /kubectl taintmgr simulate -f .* --script .* --until 30m --compare --fail-if .* --report /,
      );
    });

    it('says why at a click on a mark, in the words of the json', async () => {
      const eviction = data().runs[0]?.evictions[0] ?? assert.fail('none');
      const canvas = page.locator('.content canvas');
      const { x, width } = await boxOf(canvas);
      const [, ours] = await bandsIn(page, 'shop/web');
      const place = x + (eviction.at / 1800) * (width - 30);
      await page.mouse.click(place, ours);
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
      const { x, width } = await boxOf(own.locator('.content canvas'));
      const [y] = await bandsIn(own, 'shop/web');
      await own.mouse.move(x + width / 2, y);
      await own.keyboard.down('Control');
      await own.mouse.wheel(0, -300);
      await own.keyboard.up('Control');
      const afterWheel = await lengthOf();
      assert.ok(afterWheel < 1500, `${afterWheel}`);
      const [before = 0] = await viewOf(own);
      await own.mouse.down();
      await own.mouse.move(x + width / 2 + 100, y, { steps: 4 });
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
      // Only what is seen is there.
      await own.evaluate(`document.querySelector('.scroller').scrollTop = 1e6`);
      await own.getByRole('button', { name: 'zone-a: what is in it' }).click();
      await own.getByRole('button', { name: 'zone-a-1: what is in it' }).click();
      const podsIn = async (one: Page): Promise<number> => {
        // Only what is seen is there: the node goes to the top.
        await one.evaluate(`(async () => {
          const scroller = document.querySelector('.scroller');
          const frame = () => new Promise((seen) => requestAnimationFrame(() => requestAnimationFrame(seen)));
          for (let top = 0; top < scroller.scrollHeight; top += 200) {
            const node = [...document.querySelectorAll('.label.depth-1')].find((label) => label.innerText.includes('zone-a-1'));
            scroller.scrollTop = node ? node.offsetTop : top;
            await frame();
            if (node) return;
          }
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
