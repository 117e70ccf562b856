import assert from 'node:assert/strict';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';

export type { Browser, BrowserContext, Page } from 'playwright-core';

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** Starts the browser of this machine. Throws where there is none: a page is never left unseen. */
export function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: browserPath(),
    args: ['--no-sandbox'],
    // A machine may be busy.
    timeout: 180_000,
  });
}

function browserPath(): string {
  const folders = (process.env.PATH ?? '').split(delimiter);
  const candidates = names.flatMap((name) => folders.map((folder) => join(folder, name)));
  const found = [process.env.BROWSER_PATH ?? '', ...candidates].find((path) => isProgram(path));
  return (
    found ??
    assert.fail(
      `pages are looked at in a browser and none of ${names.join(', ')} is on PATH: ` +
        'apt-get install -y chromium, or name one in BROWSER_PATH',
    )
  );
}

function isProgram(path: string): boolean {
  if (path === '') return false;
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
