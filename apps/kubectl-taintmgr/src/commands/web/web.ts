// Serves the live page: web.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UsageError } from '@taintmgr/k8s-adapter/command-line';
import { demoPage, LiveHistory, livePage } from '@taintmgr/page';
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
  readonly demo?: true | undefined;
}

/** The address of the stream, beside that of the page. */
const stream = 'events';

export async function run(invocation: Invocation<WebFlags>): Promise<ExitCode> {
  const { flags, output, interrupt } = invocation;
  if (flags.demo) {
    refuseClusterFlags(flags);
    const { demoGame } = await import('./demo/game.ts');
    const game = demoGame();
    const page = await demoPage(stream, 'press');
    const press = (query: URLSearchParams): boolean => game.press(query);
    await serve(invocation, { page, streams: game.streams, press }, () => game.follow(interrupt));
    return exitCode.interrupted;
  }
  const policies = await readPolicyFlag(flags, output);
  return await withConnection(invocation, async ({ client, cluster }) => {
    const { context, access } = cluster;
    const history = new LiveHistory(context || access.server, Date.now());
    const streams = new Streams();
    const feed = feedOf(client, { history, streams }, policies);
    // A cluster that cannot be read is reported at once, not on a page.
    const [page] = await Promise.all([livePage(stream, 'what-if'), feed.read()]);
    const whatIf = new WhatIfAnswers({
      ...{ rerun: invocation.rerun, interrupt },
      asked: () => {
        const look = feed.look();
        const rules = look?.survey.evictor.rules ?? 'taintmgr-controller';
        return { nodes: look?.nodes ?? [], rules, policies: flags.policy ?? [] };
      },
    });
    await serve(invocation, { page, streams, whatIf }, () => feed.follow(interrupt));
    return exitCode.interrupted;
  });
}

/** Flags that say nothing of a cluster. */
const ofDemo: ReadonlySet<string> = new Set(['demo', 'port', 'open', 'color']);

/** Throws UsageError where a flag is about a cluster, or about the assumptions for one. */
function refuseClusterFlags(flags: Invocation<WebFlags>['flags']): void {
  const given = Object.entries(flags).filter(([name, value]) => {
    return value !== undefined && !ofDemo.has(name);
  });
  const [first] = given;
  if (!first) return;
  const flag = first[0].replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  throw new UsageError(
    `--demo plays two simulated clusters and takes no --${flag}; leave out --demo to see your own cluster, or --${flag} to see the demo`,
  );
}

/** Serves the page, says where, and opens it if that is asked for; until `follow` ends. */
async function serve(
  { flags, output }: Invocation<WebFlags>,
  content: Omit<Parameters<typeof startWeb>[1], 'onEnter'>,
  follow: () => Promise<void>,
): Promise<void> {
  let file: BrowserFile | null = null;
  const onEnter = (): void => file?.remove();
  const server = await startWeb(flags.port, { ...content, onEnter });
  try {
    output.out(server.address);
    output.err('Open this address in a browser; it works once. Ctrl-C ends it.');
    if (flags.open || (flags.demo && output.widthOut !== null)) {
      const why = (error: Error): void =>
        warn(output, `no browser opens here (${error.message}): open the address yourself`);
      file = new BrowserFile(server.address);
      await file.open().catch(why);
    }
    await follow();
  } finally {
    file?.remove();
    server.close();
  }
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
