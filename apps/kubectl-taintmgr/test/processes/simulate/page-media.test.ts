import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CDPSession, Page } from 'playwright-core';
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

// The page of --report by fingers, on paper, through its filters, and to eyes that need contrast.

const { data, faults, opened } = reportPage();

const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

interface Point {
  readonly x: number;
  readonly y: number;
}

/** Fingers that move from the first points to the second ones. */
async function fingers(
  session: CDPSession,
  from: readonly Point[],
  to: readonly Point[],
): Promise<void> {
  const at = (share: number) =>
    from.map(({ x, y }, id) => {
      const end = to[id] ?? { x, y };
      return { id, x: x + share * (end.x - x), y: y + share * (end.y - y) };
    });
  const send = (type: 'touchStart' | 'touchMove' | 'touchEnd', share: number | null) =>
    session.send('Input.dispatchTouchEvent', {
      type,
      touchPoints: share === null ? [] : at(share),
    });
  await send('touchStart', 0);
  for (const share of [0.25, 0.5, 0.75, 1]) await send('touchMove', share);
  await send('touchEnd', null);
}

describe('the page by touch', () => {
  it('says why at a tap on a mark, and on a name what happened there', async () => {
    const own = await opened(phone);
    const eviction = data().runs[0]?.evictions[0] ?? assert.fail('none');
    const { x, width } = await boxOf(own.locator('.content canvas'));
    const [, ours] = await bandsIn(own, 'shop/web');
    const place = x + (eviction.at / 1800) * (width - 30);
    await own.touchscreen.tap(place, ours);
    const why = await textOf(own.locator('.why'));
    assert.ok(why.includes(`${eviction.namespace}/${eviction.pod} evicted`), why);
    assert.ok(why.includes(eviction.because.join('; ')), why);
    await own.getByRole('button', { name: 'Close' }).tap();
    await own.evaluate(`document.querySelector('.scroller').scrollTop = 1e6`);
    await own.getByRole('button', { name: 'zone-a: what is in it' }).tap();
    await lane(own, 'zone-a-1').first().tap();
    assert.match(await textOf(own.locator('.why')), /kernel=old:NoExecute/);
    await own.close();
  });

  it('zooms by a pinch and moves by a finger, and leaves scrolling to the browser', async () => {
    const own = await opened(phone);
    const session = await own.context().newCDPSession(own);
    const { x, width } = await boxOf(own.locator('.content canvas'));
    const [y] = await bandsIn(own, 'shop/web');
    const at = (share: number): Point => ({ x: x + share * (width - 30), y });
    await fingers(session, [at(0.4), at(0.6)], [at(0.2), at(0.8)]);
    const [from = 0, until = 1800] = await viewOf(own);
    const length = until - from;
    assert.ok(length > 400 && length < 900, `${from}-${until} after a pinch by three`);
    await fingers(session, [at(0.5)], [at(0.8)]);
    const [moved = 0, end = 0] = await viewOf(own);
    const expected = from - 0.3 * length;
    assert.ok(Math.abs(moved - expected) < 40, `from ${moved}, not ${expected}`);
    assert.ok(Math.abs(end - moved - length) < 1, 'as much of the time as before');
    const before = await viewOf(own);
    const box = await boxOf(own.locator('.content canvas'));
    const low = { x: box.x + 60, y: box.y + 250 };
    await fingers(session, [low], [{ x: low.x, y: low.y - 150 }]);
    assert.deepEqual(await viewOf(own), before, 'down is not along the time');
    await own.close();
  });
});

describe('the filters of the page', () => {
  const labels = async (own: Page): Promise<readonly string[]> =>
    await own.locator('.label.lane .text').allTextContents();

  for (const [width, height] of [
    [1400, 900],
    [800, 900],
    [390, 844],
  ] as const)
    it(`leave a namespace, a zone, an outcome, what is harmed; the address keeps them, at ${width}x${height}`, async () => {
      const viewport = { width, height };
      const own = await opened({ viewport });
      await own.getByRole('button', { name: 'Filter' }).click();
      await own.getByRole('combobox', { name: /^Namespace/ }).selectOption('infra');
      await soon(own, async () => {
        const ofInfra = await labels(own);
        assert.ok(ofInfra.some((text) => text.startsWith('infra/agent')));
        assert.ok(!ofInfra.some((text) => text.startsWith('shop/web')), ofInfra.join());
        const rows = await own.locator('.numbers tbody tr').allTextContents();
        assert.ok(
          rows.every((text) => text.startsWith('infra/agent')),
          rows.join(),
        );
      });
      await own.getByRole('combobox', { name: /^Namespace/ }).selectOption('');
      await own.getByRole('combobox', { name: /^Zone/ }).selectOption('zone-a');
      await own.getByRole('combobox', { name: /^Pods/ }).selectOption('evicted');
      await own.getByLabel('only affected').check();
      await soon(own, async () => {
        const fragment = fragmentOf(own);
        assert.deepEqual(
          ['ns', 'zone', 'pods', 'harmed'].map((name) => fragment.get(name)),
          [null, 'zone-a', 'evicted', 'only'],
        );
      });
      const again = await opened({ viewport }, new URL(own.url()).hash);
      await soon(again, async () => {
        const found = await labels(again);
        assert.deepEqual(found, await labels(own));
        assert.ok(found.some((text) => text.startsWith('zone-a')));
        assert.ok(!found.some((text) => text.startsWith('zone-b')), found.join());
      });
      const { length } = await labels(again);
      await again.getByRole('button', { name: 'Show all' }).click();
      await soon(again, async () => {
        assert.ok((await labels(again)).length > length);
        assert.equal(fragmentOf(again).size, 0);
      });
      await own.close();
      await again.close();
    });

  it('say that nothing is left, also of what the address names and is not there', async () => {
    const own = await opened({}, '#ns=nowhere&zone=zone-x&harmed=only&q=zzz');
    assert.match(await textOf(own.locator('.scroller')), /^Search and filter leave nothing\./);
    assert.match(
      await textOf(own.getByRole('combobox', { name: /^Namespace/ })),
      /nowhere: not here/,
    );
    assert.deepEqual(await axeFindings(own), []);
    await own.close();
  });
});

describe('the page on paper', () => {
  for (const colorScheme of ['light', 'dark'] as const) {
    it(`has the sentence, every lane, legend and tables, light, from a ${colorScheme} screen`, async () => {
      const screen = { colorScheme, viewport: { width: 980, height: 600 } };
      const own = await opened(screen, '#open=z+zone-a');
      const rows = await own.evaluate(
        'document.querySelector(".content").getBoundingClientRect().height',
      );
      await own.emulateMedia({ media: 'print' });
      await own.evaluate('dispatchEvent(new Event("beforeprint"))');
      for (const shown of [
        'h1',
        '.figures',
        '.on-paper table',
        '.legend',
        '.numbers table',
        'footer',
      ])
        assert.ok(await own.locator(shown).first().isVisible(), shown);
      for (const hidden of ['.controls', '.overview', '.scroller', '.axis', '.acts'])
        assert.ok(!(await own.locator(hidden).first().isVisible()), hidden);
      const names = await own.locator('.on-paper tbody th').allTextContents();
      for (const name of ['shop/web', 'infra/agent', 'zone-a-1', 'zone-b'])
        assert.ok(
          names.some((text) => text.startsWith(name)),
          `${name} of ${names.join(' | ')}`,
        );
      assert.ok(Number(rows) > 400, 'more than the screen has room for');
      // Nothing lies outside of the paper, which is 273 mm wide.
      const wide = await own.evaluate('document.documentElement.scrollWidth');
      assert.ok(Number(wide) <= 980, `${wide} pixels wide`);
      const paper =
        await own.evaluate(`[...document.querySelectorAll('.on-paper canvas')].map((canvas) => {
        const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        let drawn = 0;
        for (let at = 3; at < data.length; at += 4) if (data[at] > 0) drawn++;
        return [canvas.className, canvas.getBoundingClientRect().right <= innerWidth, drawn > 50];
      })`);
      for (const [name, isWithin, isDrawn] of paper as [string, boolean, boolean][])
        assert.ok(isWithin && isDrawn, name);
      const background = await own.evaluate('getComputedStyle(document.body).backgroundColor');
      assert.equal(background, 'rgb(255, 255, 255)');
      await own.evaluate('dispatchEvent(new Event("afterprint"))');
      assert.equal(await own.locator('.on-paper table').count(), 0);
      await own.close();
    });
  }

  it('is made by the browser when it prints', async () => {
    const own = await opened();
    await own.evaluate(`addEventListener('afterprint', () => { window.tables ??= 0; })`);
    await own.evaluate(
      `new MutationObserver(() => { window.tables = document.querySelectorAll('.on-paper canvas').length || window.tables; })
        .observe(document.querySelector('.on-paper'), { childList: true })`,
    );
    assert.ok((await own.pdf({ preferCSSPageSize: true })).length > 10_000);
    assert.ok(Number(await own.evaluate('window.tables')) > 8);
    await own.close();
  });
});

describe('the colours of the page', () => {
  const texts = ['ink', 'quiet', 'accent', 'down', 'held'];
  const graphics = ['ink', 'accent', 'down', 'unknown', 'gone', 'tainted', 'pending', 'held'];
  const others = ['leaving', 'noroom', 'budget', 'untold'];

  for (const colorScheme of ['light', 'dark'] as const) {
    it(`stand off from their paper, ${colorScheme}: 4.5 for text, 3 for what is drawn`, async () => {
      const own = await opened({ colorScheme });
      const colour = async (name: string): Promise<string> =>
        String(await own.evaluate(`getComputedStyle(document.body).getPropertyValue('--${name}')`));
      const paper = await colour('paper');
      for (const name of texts) {
        const ratio = contrast(await colour(name), paper);
        assert.ok(ratio >= 4.5, `${name} as text: ${ratio.toFixed(2)}`);
      }
      for (const name of [...graphics, ...others]) {
        const ratio = contrast(await colour(name), paper);
        assert.ok(ratio >= 3, `${name}: ${ratio.toFixed(2)}`);
      }
      await own.close();
    });
  }

  it('have paper around each line and mark that lies on a fill', async () => {
    const own = await opened();
    const { y, width } = await boxOf(own.locator('.content canvas'));
    const row = await boxOf(lane(own, 'shop/web').first());
    const at = data().runs[0]?.refusals[0]?.firstAt ?? assert.fail('no refusal');
    const [left, top] = [(at / 1800) * (width - 30), row.y - y];
    // The pixels around the mark of what was refused, in the red of what is down.
    const colours = await own.evaluate(`(() => {
      const context = document.querySelector('.content canvas').getContext('2d');
      const { data } = context.getImageData(${Math.round(left) - 8}, ${Math.round(top)}, 17, ${Math.round(row.height)});
      const seen = new Set();
      for (let at = 0; at < data.length; at += 4)
        seen.add('#' + [0, 1, 2].map((one) => data[at + one].toString(16).padStart(2, '0')).join(''));
      return [...seen];
    })()`);
    assert.ok((colours as string[]).includes('#ffffff'), String(colours));
    assert.ok((colours as string[]).includes('#9a6700'), String(colours));
    await own.close();
    assert.deepEqual(faults, []);
  });
});

/** As WCAG 2.2 has it, of two colours as `#rrggbb`. */
function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [one, other].map(luminance).sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const value = Number.parseInt(colour.trim().slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
