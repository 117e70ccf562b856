// Prints the versions of the plugin and of the API server: version.

import { printable } from '@taintmgr/k8s-adapter/command-line';
import type { OutputFlags } from '../cli/common-flags.ts';
import { withConnection } from '../cli/connection.ts';
import { type ExitCode, exitCode } from '../cli/exit.ts';
import type { Invocation } from '../cli/registry.ts';
import { version } from '../cli/version.ts';
import { printAnswer, readFormat } from '../render/printer.ts';

/** The command line of `version`. */
interface VersionFlags extends OutputFlags {
  readonly client?: true | undefined;
}

interface ServerVersion {
  readonly gitVersion?: string;
}

/** `version`: as `kubectl version` has it. */
export async function run(invocation: Invocation<VersionFlags>): Promise<ExitCode> {
  const { flags, output } = invocation;
  const format = await readFormat(flags.output);
  const platform = `${process.platform}/${process.arch}`;
  const clientVersion = { gitVersion: `v${version}`, nodeVersion: process.version, platform };
  // The version of the client is printed also where no server answers.
  const [serverVersion, fault] = await askServer(invocation).then(
    (found) => [found, null] as const,
    (error: unknown) => [null, { error }] as const,
  );
  const lines = [
    `Client Version: ${clientVersion.gitVersion}`,
    ...(serverVersion
      ? [`Server Version: ${printable(String(serverVersion.gitVersion ?? ''))}`]
      : []),
  ];
  const document = { clientVersion, ...(serverVersion && { serverVersion }) };
  const answer = { document, rows: [document], names: [], table: () => lines.join('\n') };
  output.write(await printAnswer(answer, format, flags.headers !== false, output));
  if (fault) throw fault.error;
  return exitCode.done;
}

async function askServer(invocation: Invocation<VersionFlags>): Promise<ServerVersion | null> {
  if (invocation.flags.client) return null;
  return await withConnection(invocation, async ({ client }) => {
    return (await client.get('/version')) as ServerVersion;
  });
}
