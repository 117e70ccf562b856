// Serves the live page: web.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LiveHistory, livePage } from '@taintmgr/page';
import { type PolicyFlag, readPolicyFlag } from '../../cli/common-flags.ts';
import { withConnection } from '../../cli/connection.ts';
import { type ExitCode, exitCode } from '../../cli/exit.ts';
import { warn } from '../../cli/output.ts';
import type { Invocation } from '../../cli/registry.ts';
import { feedOf } from './feed.ts';
import { redirectTo, Streams, startWeb } from './server.ts';
import { WhatIfAnswers } from './what-if.ts';

/** The command line of `web`. */
export interface WebFlags extends PolicyFlag {
  readonly port: number;
  readonly open?: true | undefined;
}

/** The address of the stream, beside that of the page. */
const stream = 'events';

export async function run(invocation: Invocation<WebFlags>): Promise<ExitCode> {
  const { flags, output, interrupt } = invocation;
  const policies = await readPolicyFlag(flags, output);
  return await withConnection(invocation, async ({ client, cluster }) => {
    const { context, access } = cluster;
    const history = new LiveHistory(context || access.server, Date.now());
    const streams = new Streams();
    const feed = feedOf(client, { history, streams }, policies);
    // A cluster that cannot be read is told at once, not on a page.
    const [page] = await Promise.all([livePage(stream, 'what-if'), feed.read()]);
    const whatIf = new WhatIfAnswers({
      ...{ rerun: invocation.rerun, interrupt },
      asked: () => {
        const look = feed.look();
        const rules = look?.survey.evictor.rules ?? 'taintmgr-controller';
        return { nodes: look?.nodes ?? [], rules, policies: flags.policy ?? [] };
      },
    });
    let file: BrowserFile | null = null;
    const onEnter = (): void => file?.remove();
    const server = await startWeb(flags.port, { onEnter, page, streams, whatIf });
    try {
      output.out(server.address);
      output.err('Open this address in a browser; it works once. Ctrl-C ends it.');
      if (flags.open) {
        const why = (error: Error): void => warn(output, `no browser opens: ${error.message}`);
        file = new BrowserFile(server.address);
        await file.open().catch(why);
      }
      await feed.follow(interrupt);
    } finally {
      file?.remove();
      server.close();
    }
    return exitCode.interrupted;
  });
}

const openers: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/**
 * A file that leads to an address. Everybody on a machine may read the arguments of a program, and only
 * its owner such a file.
 */
class BrowserFile {
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
