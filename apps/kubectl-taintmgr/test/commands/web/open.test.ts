import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { launchBrowser } from '../../world/browser.ts';
import { start } from '../../world/run.ts';
import { startTestCluster, until } from '../../world/test-cluster.ts';

const isLinux = process.platform === 'linux';

it('opens the page through a file for its owner alone, which is gone when it is used', {
  skip: !isLinux && 'other systems have another program that opens files',
}, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'taintmgr-open-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const told = join(folder, 'told');
  const opener = `#!/bin/sh\nprintf '%s\\n' "$@" > '${told}.part' && mv '${told}.part' '${told}'\n`;
  writeFileSync(join(folder, 'xdg-open'), opener, { mode: 0o755 });
  const { PATH = '' } = process.env;
  process.env.PATH = `${folder}${delimiter}${PATH}`;
  t.after(() => {
    process.env.PATH = PATH;
  });
  const cluster = await startTestCluster(null);
  t.after(() => cluster.stop());
  const web = start(['web', '--open', '--kubeconfig', cluster.kubeconfig]);
  t.after(() => web.interrupt());
  await until('what the opener is told', () => existsSync(told));
  const [path = '', ...more] = readFileSync(told, 'utf8').trim().split('\n');
  assert.deepEqual(more, []);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.equal(statSync(dirname(path)).mode & 0o777, 0o700);
  const browser = await launchBrowser();
  t.after(() => browser.close());
  const page = await browser.newPage();
  await page.goto(pathToFileURL(path).href);
  await page.locator('h1').waitFor();
  const { origin } = new URL(web.output.outText.trim());
  assert.equal(page.url(), `${origin}/`);
  assert.equal(existsSync(dirname(path)), false);
  await page.reload();
  await page.locator('h1').waitFor();
});
