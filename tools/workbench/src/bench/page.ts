// How fluid the page of a simulation is: time from frame to frame while somebody pans and scrolls.
// npm run bench -- page; needs a Chromium, which draws without a graphics card here.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { launchBrowser, type Page } from '@taintmgr/kubectl-taintmgr/test/world/browser.ts';
import { type PageInput, pageHtml } from '@taintmgr/page';

const zones = 20;
const nodesPerZone = 100;
const podsPerNode = 10;
const workloads = 40;
const untilSeconds = 3600;
const frames = 120;
/** At 60 frames a second. */
const frameMs = 1000 / 60;

type Run = PageInput['runs'][number];

/** A quarter of the zones is lost, one after the other, and comes back; their pods leave. */
function outage(): PageInput {
  const because = ['tolerates node.kubernetes.io/unreachable:NoExecute for 5m'];
  const nodes: Run['nodes'][number][] = [];
  const [deadlines, evictions]: [Run['deadlines'][number][], Run['evictions'][number][]] = [[], []];
  const down = new Map<string, number[]>();
  for (let zone = 0; zone < zones; zone++) {
    for (let index = 0; index < nodesPerZone; index++) {
      const node = `zone-${zone}-${index}`;
      const at = 120 + zone * 60 + index / 10;
      const isLost = zone % 4 === 0;
      const ready = { at: 0, ready: 'True', cordoned: false, taints: [] } as const;
      const taints = ['node.kubernetes.io/unreachable:NoExecute'];
      const lost = { at, ready: 'Unknown', cordoned: false, taints } as const;
      const states = isLost ? [ready, lost, { ...ready, at: at + 1200 }] : [ready];
      nodes.push({ name: node, zone: `r/zone-${zone}`, states });
      for (let pod = 0; isLost && pod < podsPerNode; pod++) {
        const workload = `Deployment shop/app-${(index + pod) % workloads}`;
        const named = { namespace: 'shop', pod: `app-${zone}-${index}-${pod}`, node, workload };
        const goesAt = at + 300 + pod;
        deadlines.push({
          ...{ ...named, because, setAt: at, dueAt: goesAt },
          ...{ endedAt: goesAt, end: 'evicted' },
        });
        evictions.push({ ...named, at: goesAt, how: 'evict', because });
        down.set(workload, [...(down.get(workload) ?? []), goesAt]);
      }
    }
  }
  const podsOf = (zones * nodesPerZone * podsPerNode) / workloads;
  const tracks = Array.from(down, ([key, times]) => track(key, times, podsOf));
  const run: Run = {
    name: 'precise',
    semantics: 'precise',
    ...{
      nodes,
      deadlines,
      evictions,
      holds: [],
      refusals: [],
      failures: [],
      unplaced: [],
      pods: [],
    },
    ...{ events: [], zones: [], budgets: [], workloads: tracks.map(({ workload }) => workload) },
    summary: {
      ...{ evictions: evictions.length, refusals: 0, nodesTainted: 500, causes: [] },
      workloads: tracks.map(({ totals }) => totals),
    },
  };
  const rest = { missing: [], notes: [], assumptions: [], limits: [] };
  return {
    ...{ source: 'bench', seed: 1, startsAt: '2026-01-01T00:00:00Z', untilSeconds, runs: [run] },
    ...rest,
  };
}

/** Each pod is down for half a minute when it leaves. */
function track(key: string, times: readonly number[], wanted: number) {
  const name = { kind: 'Deployment', namespace: 'shop', name: key.replace('Deployment shop/', '') };
  const changes = times.flatMap((at): [number, number][] => [
    [at, -1],
    [at + 30, 1],
  ]);
  changes.sort(([one], [other]) => one - other);
  let pods = wanted;
  const serving = [
    { at: 0, pods },
    ...changes.map(([at, change]) => {
      pods += change;
      return { at, pods };
    }),
  ];
  const states = serving.map(({ at, pods: ready }) => ({ at, wanted, ready }));
  const downMax = wanted - Math.min(...serving.map((step) => step.pods));
  const totals = {
    ...name,
    ...{ downMax, downWorstAt: 500, downWorstWanted: wanted, downSeconds: 600 },
    ...{ podMinutesLost: times.length / 2, longestGap: null, overAt: 2000 },
    ...{ unavailableSeconds: 600, evictions: times.length },
  };
  return { workload: { ...name, states, serving }, totals };
}

/** What the browser does: it keeps the time of each frame from now on. */
const noteFrames = `
  globalThis.frameTimes = [];
  globalThis.noting ??= requestAnimationFrame(function note(at) {
    frameTimes.push(at);
    requestAnimationFrame(note);
  });
`;

/** Milliseconds from frame to frame while `act` is done before each. */
async function framesOf(page: Page, act: (index: number) => Promise<void>): Promise<number[]> {
  await page.evaluate(noteFrames);
  for (let index = 0; index < frames; index++) await act(index);
  const times = await page.evaluate<readonly number[]>('frameTimes');
  return times.slice(1).map((at, index) => at - (times[index] ?? 0));
}

function print(what: string, times: readonly number[]): void {
  const sorted = [...times].sort((a, b) => a - b);
  const at = (share: number): string =>
    (sorted[Math.floor(share * (sorted.length - 1))] ?? 0).toFixed(1);
  const late = times.filter((time) => time > 1.5 * frameMs).length;
  process.stdout.write(
    `${what.padEnd(34)} median ${at(0.5)} ms, 95 % ${at(0.95)} ms, worst ${at(1)} ms, ` +
      `${late} of ${times.length} frames late\n`,
  );
}

const folder = mkdtempSync(join(tmpdir(), 'page-bench-'));
const browser = await launchBrowser();
try {
  const file = join(folder, 'page.html');
  const input = outage();
  writeFileSync(file, await pageHtml(input));
  const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
  const began = performance.now();
  await page.goto(pathToFileURL(file).href);
  await page.locator('.labels li').first().waitFor();
  const pods = zones * nodesPerZone * podsPerNode;
  process.stdout.write(
    `${zones * nodesPerZone} nodes, ${pods} pods, ${input.runs[0]?.evictions.length} evictions; ` +
      `load ${loadavg()[0]?.toFixed(1)}; shown after ${Math.round(performance.now() - began)} ms\n`,
  );
  const scroller = page.locator('.scroller');
  const box = (await scroller.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
  const [x, y] = [box.x + box.width * 0.6, box.y + box.height / 2];
  await scroller.focus();
  print('nothing done', await framesOf(page, () => page.waitForTimeout(frameMs)));
  for (let zoom = 0; zoom < 4; zoom++) await scroller.press('w');
  await page.mouse.move(x, y);
  await page.mouse.down();
  print('dragging', await framesOf(page, (index) => page.mouse.move(x - 2 * index, y)));
  await page.mouse.up();
  for (const zone of [0, 4, 8]) {
    await scroller.evaluate((element) => element.scrollTo({ top: 0 }));
    const button = page.getByRole('button', { name: `r/zone-${zone}: what is in it` });
    while (!(await button.isVisible())) await page.mouse.wheel(0, 300);
    await button.click();
  }
  await page.mouse.move(x, y);
  print('scrolling, 300 nodes unfolded', await framesOf(page, () => page.mouse.wheel(0, 60)));
  await page.mouse.down();
  print(
    'dragging, 300 nodes unfolded',
    await framesOf(page, (index) => page.mouse.move(x - 2 * index, y)),
  );
  await page.mouse.up();
} finally {
  await browser.close();
  rmSync(folder, { recursive: true });
}
