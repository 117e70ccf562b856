// `web`: the page of the cluster as it is, served on loopback until Ctrl-C.
import { LiveHistory, livePage } from '@taintmgr/page';
import { withConnection } from '../../cli/connection.ts';
import { type ExitCode, exitCode } from '../../cli/exit.ts';
import type { Invocation } from '../../cli/invocation.ts';
import { warn } from '../../cli/output.ts';
import { readPolicyFlag } from '../../cli/policy-flag.ts';
import { BrowserFile } from './browser.ts';
import { feedOf } from './feed.ts';
import type { WebFlags } from './flags.ts';
import { startWeb } from './server.ts';
import { Streams } from './streams.ts';
import { WhatIfAnswers } from './what-if/answers.ts';

/** The address of the stream, beside that of the page. */
const stream = 'events';

export async function run(invocation: Invocation<WebFlags>): Promise<ExitCode> {
  const { flags, output, interrupt } = invocation;
  const policies = await readPolicyFlag(flags);
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
