// Opens an address in the browser of this machine.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const openers: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** A page that leads to an address. */
export function redirectTo(address: string): string {
  const leads = `<meta http-equiv="refresh" content="0;url=${address}">`;
  return `<!doctype html><meta charset="utf-8"><title>kubectl taintmgr</title>${leads}\n`;
}

/**
 * A file that leads to an address. Everybody on a machine may read the arguments of a program, and only
 * its owner such a file.
 */
export class BrowserFile {
  readonly #folder: string = mkdtempSync(join(tmpdir(), 'kubectl-taintmgr-'));
  readonly #path: string = join(this.#folder, 'page.html');

  constructor(address: string) {
    writeFileSync(this.#path, redirectTo(address), { mode: 0o600, flag: 'wx' });
  }

  /** Starts what opens files here, and does not wait for it. Rejects where there is none. */
  open(): Promise<void> {
    const [command, ...args] = openers[process.platform] ?? ['xdg-open'];
    const child = spawn(command, [...args, this.#path], { detached: true, stdio: 'ignore' });
    return new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('spawn', () => {
        child.unref();
        resolve();
      });
    });
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
