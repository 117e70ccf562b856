// Makes the custom resource definitions in the cluster: install crds.
import { setTimeout } from 'node:timers/promises';
import type { Millis } from '@taintmgr/core/time';
import { type ApiClient, applyRequest } from '@taintmgr/k8s-adapter';
import { customResourceDefinitions } from '@taintmgr/k8s-adapter/kinds';
import { type DryRun, type OutputFlags, readDryRun } from '../cli/common-flags.ts';
import { withConnection } from '../cli/connection.ts';
import { type ExitCode, exitCode } from '../cli/exit.ts';
import type { Invocation } from '../cli/registry.ts';
import { type Format, printAnswer, readFormat } from '../render/printer.ts';

/** The command line of `install crds`. */
export interface CrdsFlags extends OutputFlags {
  readonly dryRun: string;
  readonly forceConflicts?: true | undefined;
  /** Milliseconds. */
  readonly timeout: number;
}

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
  { flags, output }: Invocation<CrdsFlags>,
  dryRun: DryRun,
): Promise<string> {
  if (format.kind === 'yaml') {
    const { yamlOf } = await import('../render/yaml.ts');
    return items.map(yamlOf).join('---\n');
  }
  const references = names().map((name) => `customresourcedefinition.apiextensions.k8s.io/${name}`);
  const answer = {
    document: { apiVersion: 'v1', kind: 'List', metadata: {}, items },
    rows: items,
    names: references,
    table: () => references.map((name) => `${name} ${doneTexts[dryRun]}`).join('\n'),
  };
  return await printAnswer(answer, format, flags.headers !== false, output);
}

/** A definition whose kind is not served. */
interface Waiting {
  readonly name: string;
  readonly why: string;
}

const askEveryMs: Millis = 200;

/** Returns the definitions that are not established when the time is over. */
async function untilEstablished(
  read: (name: string) => Promise<unknown>,
  names: readonly string[],
  timeout: Millis,
  interrupt: AbortSignal,
): Promise<readonly Waiting[]> {
  const end = performance.now() + timeout;
  for (;;) {
    const found: Waiting[] = [];
    for (const name of names) {
      const why = whyNotServed(await read(name));
      if (why !== null) found.push({ name, why });
    }
    if (found.length === 0 || performance.now() >= end) return found;
    // The next request throws the reason of an interrupt.
    await setTimeout(askEveryMs, undefined, { signal: interrupt }).catch(() => undefined);
  }
}

interface Condition {
  readonly type?: unknown;
  readonly status?: unknown;
  readonly message?: unknown;
}

/** The reason why a definition's kind is not served; null: it is served. */
function whyNotServed(definition: unknown): string | null {
  const { status } = (definition ?? {}) as { readonly status?: { readonly conditions?: unknown } };
  const conditions: readonly Condition[] = Array.isArray(status?.conditions)
    ? status.conditions
    : [];
  const of = (type: string): Condition | undefined => conditions.find((one) => one.type === type);
  if (of('Established')?.status === 'True') return null;
  const names = of('NamesAccepted');
  if (names?.status === 'False') return `its names are taken: ${names.message}`;
  return 'the API server has not looked at it';
}
