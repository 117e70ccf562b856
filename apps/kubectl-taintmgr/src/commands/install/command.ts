// Puts the kinds of taintmgr into the cluster, or prints their definitions.
import { customResourceDefinitions } from '@taintmgr/core/policy';
import { type ApiClient, applyRequest } from '@taintmgr/k8s-adapter';
import { withConnection } from '../../cli/connection.ts';
import { type DryRun, readDryRun } from '../../cli/dry-run-flag.ts';
import { type ExitCode, exitCode } from '../../cli/exit.ts';
import type { Invocation } from '../../cli/invocation.ts';
import { type Format, readFormat } from '../../render/format.ts';
import { printAnswer } from '../../render/printer.ts';
import { untilEstablished } from './established.ts';
import type { CrdsFlags } from './flags.ts';

const crdsPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** As which server-side apply makes them. */
const fieldManager = 'taintmgr';

/** `install crds`: applies the definitions of our kinds, or prints them. */
export async function run(invocation: Invocation<CrdsFlags>): Promise<ExitCode> {
  const { flags, output, interrupt } = invocation;
  const format = await readFormat(flags.output);
  const dryRun = readDryRun(flags.dryRun, ['none', 'server', 'client'], output);
  const definitions = customResourceDefinitions();
  if (dryRun === 'client') {
    output.write(await printed(definitions, format, invocation, dryRun));
    return exitCode.done;
  }
  return await withConnection(invocation, async ({ client }) => {
    const applied: object[] = [];
    for (const definition of definitions) {
      const options = {
        fieldManager,
        force: flags.forceConflicts === true,
        dryRun: dryRun === 'server',
      };
      const path = `${crdsPath}/${definition.metadata.name}`;
      applied.push((await client.send(applyRequest(path, definition, options))) as object);
    }
    output.write(await printed(applied, format, invocation, dryRun));
    if (dryRun === 'server') return exitCode.done;
    const waiting = await untilEstablished(readerOf(client), names(), flags.timeout, interrupt);
    for (const { name, why } of waiting) {
      output.err(`error: ${name} is not served yet: ${why}`);
    }
    return waiting.length === 0 ? exitCode.done : exitCode.timeout;
  });
}

function names(): readonly string[] {
  return customResourceDefinitions().map(({ metadata }) => metadata.name);
}

function readerOf(client: ApiClient): (name: string) => Promise<unknown> {
  return (name) => client.get(`${crdsPath}/${name}`);
}

const doneTexts: Readonly<Record<DryRun, string>> = {
  none: 'serverside-applied',
  server: 'serverside-applied (server dry run)',
  client: 'serverside-applied (dry run)',
};

/** YAML as one document for each, which kubectl checks one by one when it applies them. */
async function printed(
  items: readonly object[],
  format: Format,
  { flags }: Invocation<CrdsFlags>,
  dryRun: DryRun,
): Promise<string> {
  if (format.kind === 'yaml') {
    const { yamlOf } = await import('../../render/yaml.ts');
    return items.map(yamlOf).join('---\n');
  }
  const references = names().map((name) => `customresourcedefinition.apiextensions.k8s.io/${name}`);
  const answer = {
    document: { apiVersion: 'v1', kind: 'List', metadata: {}, items },
    rows: items,
    names: references,
    table: () => references.map((name) => `${name} ${doneTexts[dryRun]}`).join('\n'),
  };
  return await printAnswer(answer, format, flags.headers !== false);
}
