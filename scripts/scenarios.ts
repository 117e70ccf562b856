// Makes the page of every scenario in docs/scenarios, by the commands of its transcripts; with
// --screenshots that of one of them alone and that of losses, and their pictures, light and dark.
// npm run scenarios -- [FOLDER] [--screenshots]; the folder is `reports` when left out.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { runProgram } from '../apps/kubectl-taintmgr/src/program.ts';
import { launchBrowser, type Page } from '../apps/kubectl-taintmgr/test/world/browser.ts';
import { CapturedOutput } from '../apps/kubectl-taintmgr/test/world/captured-output.ts';
import { drawnBy, drawnFile } from './tidy/pictures.ts';
import { repository } from './tidy/tree.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const scenarios = fileURLToPath(new URL('../docs/scenarios/', import.meta.url));
const pictured = 'zone-outage';
/** Pictures are of this size, with this zone open and the first eviction of this workload chosen. */
const viewport = { width: 1400, height: 900 };
const zone = 'zone-b';
const workload = 'shop/web';
/** The second page that is pictured, with its worst loss chosen. */
const losses = 'losses';
const lossesCommand = `simulate -f three-zones.yaml --each node --report ${losses}.html`;
const lossesViewport = { width: 1400, height: 640 };

const { values, positionals } = parseArgs({
  options: { screenshots: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const folder = resolve(positionals[0] ?? 'reports');
mkdirSync(folder, { recursive: true });
process.chdir(scenarios);
const texts = readdirSync('.').filter((name) => /\.(md|txt)$/.test(name));
const shown = texts.map((name) => readFileSync(name, 'utf8')).join('\n');
for (const line of shown.matchAll(/^\$ kubectl taintmgr (.*)$/gm)) {
  const command = line[1] ?? '';
  if (!values.screenshots || command.includes(`--script ${pictured}.yaml`)) await makePage(command);
}

/** Runs one command of the documentation; its page goes into the folder. */
async function makePage(line: string): Promise<void> {
  const args = line.split(' ');
  const at = args.indexOf('--report') + 1;
  const page = join(folder, args[at] ?? '');
  args[at] = page;
  const output = new CapturedOutput(false);
  const code = await runProgram(args, { output, interrupt: new AbortController().signal });
  if (code !== 0) throw new Error(`${line}: exit code ${code}: ${output.errText}`);
  process.stdout.write(`${page}\n`);
}

/** Opens what a reader would, and asks why. */
async function chooseEviction(page: Page): Promise<void> {
  await page.getByRole('button', { name: `${zone}: what is in it` }).click();
  const scroller = page.locator('.scroller');
  for (;;) {
    await scroller.press('n');
    const said = (await page.locator('.why').textContent()) ?? '';
    if (said.includes(`${workload}-`)) return;
  }
}

/** Opens what a reader would of the worst loss. */
async function chooseLoss(page: Page): Promise<void> {
  await page.locator('.heat-map tbody td').first().click();
  await page.locator('.why').waitFor();
}

/** The name of the page, and the selection on it. */
interface Picture {
  readonly name: string;
  readonly size: typeof viewport;
  readonly choose: (page: Page) => Promise<void>;
}

const pictures: readonly Picture[] = [
  { name: pictured, size: viewport, choose: chooseEviction },
  { name: losses, size: lossesViewport, choose: chooseLoss },
];

async function takePictures(): Promise<void> {
  const browser = await launchBrowser();
  try {
    for (const { name, size, choose } of pictures) {
      for (const colorScheme of ['light', 'dark'] as const) {
        const page = await browser.newPage({ viewport: size, colorScheme });
        await page.goto(pathToFileURL(join(folder, `${name}.html`)).href);
        await choose(page);
        await page.evaluate('scrollTo(0, 0)');
        const path = `${name}-${colorScheme}.png`;
        await page.screenshot({ path });
        process.stdout.write(`${join(relative('../..', '.'), path)}\n`);
      }
    }
    const drawn = drawnBy(repository(root));
    writeFileSync(join(root, drawnFile), drawn);
  } finally {
    await browser.close();
  }
}

if (values.screenshots) {
  await makePage(lossesCommand);
  await takePictures();
}
