// Makes the custom resource definitions in the cluster: install crds.
import { setTimeout } from 'node:timers/promises';
import type { Millis } from '@taintmgr/core/time';
import { type ApiClient, applyRequest } from '@taintmgr/k8s-adapter';
import { ApiError, UsageError } from '@taintmgr/k8s-adapter/command-line';
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
    if (flags.forceConflicts !== true) await refuseNewer(client, definitions);
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

type Definition = ReturnType<typeof customResourceDefinitions>[number];

/** Throws UsageError where the cluster has definitions of a newer version: objects would lose fields. */
async function refuseNewer(client: ApiClient, definitions: readonly Definition[]): Promise<void> {
  const faults: string[] = [];
  for (const own of definitions) {
    const { name } = own.metadata;
    const live = await client.get(`${crdsPath}/${name}`).catch(unlessMissing);
    const more = fieldsBeyond(schemaOf(live), schemaOf(own), '');
    if (more.length > 0)
      faults.push(`${name} has fields that this version does not: ${more.join(', ')}`);
  }
  if (faults.length === 0) return;
  throw new UsageError([
    'the cluster has definitions of a newer version, and objects would lose these fields',
    ...faults,
    'nothing was applied: older controllers and plugins work with newer definitions; --force-conflicts applies these',
  ]);
}

function unlessMissing(error: unknown): null {
  if (error instanceof ApiError && error.failure.status === 404) return null;
  throw error;
}

/** The schema of the one version that a definition has. */
function schemaOf(definition: unknown): unknown {
  const { spec } = (definition ?? {}) as { readonly spec?: { readonly versions?: unknown } };
  const [version] = Array.isArray(spec?.versions) ? spec.versions : [];
  return version?.schema?.openAPIV3Schema;
}

interface LiveSchema {
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly items?: unknown;
}

/** The paths of fields in one schema that another one does not have. */
function fieldsBeyond(one: unknown, other: unknown, path: string): readonly string[] {
  const [more, less] = [(one ?? {}) as LiveSchema, (other ?? {}) as LiveSchema];
  const inItems = more.items && less.items ? fieldsBeyond(more.items, less.items, `${path}[]`) : [];
  const own = less.properties ?? {};
  const inMembers = Object.entries(more.properties ?? {}).flatMap(([name, schema]) => {
    const below = path === '' ? name : `${path}.${name}`;
    return Object.hasOwn(own, name) ? fieldsBeyond(schema, own[name], below) : [below];
  });
  return [...inItems, ...inMembers];
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
