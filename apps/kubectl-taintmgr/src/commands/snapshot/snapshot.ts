// Writes what simulate needs of a cluster into files: snapshot.
import type { Millis } from '@taintmgr/core/time';
import { type ApiClient, ApiError } from '@taintmgr/k8s-adapter';
import { count, jsonText, UsageError } from '@taintmgr/k8s-adapter/command-line';
import { ClusterReader, describeRight, type Right } from '@taintmgr/k8s-adapter/survey';
import { type Connection, withConnection } from '../../cli/connection.ts';
import { type ExitCode, exitCode } from '../../cli/exit.ts';
import { warn } from '../../cli/output.ts';
import type { Invocation } from '../../cli/registry.ts';
import {
  type Collection,
  claimsDevices,
  collections,
  listCollection,
} from '../../cluster/collections.ts';
import { keptOf } from '../../cluster/snapshot-shapes.ts';

/** The command line of `snapshot`. */
export interface SnapshotFlags {
  readonly output: 'json' | 'yaml';
  readonly watch?: true | undefined;
  readonly for?: Millis | undefined;
}

/** `snapshot`: reads the cluster once and prints what of it decides about evictions; then what changes. */
export async function run(invocation: Invocation<SnapshotFlags>): Promise<ExitCode> {
  const { flags, output } = invocation;
  if (flags.for !== undefined && !flags.watch) {
    throw new UsageError('--for says how long to watch, and --watch is missing');
  }
  if (flags.watch && flags.output !== 'json') {
    throw new UsageError(`-o ${flags.output}: what changes is written as json; leave out -o`);
  }
  return await withConnection(invocation, async (connection) => {
    const { items, refused } = await readCluster(invocation, connection);
    if (flags.output === 'yaml') await writeYaml(invocation, items);
    else writeJson(invocation, items);
    await output.flushed();
    const written = count(items.length, 'object');
    if (!flags.watch) output.err(`${written} written`);
    else {
      const { watchCluster } = await import('./watch.ts');
      return await watchCluster(invocation, connection, {
        items,
        refused,
        forMs: flags.for ?? null,
      });
    }
    return exitCode.done;
  });
}

/** All that is read, and the paths that may not be. */
async function readCluster(
  { output }: Invocation<SnapshotFlags>,
  { client }: Connection,
): Promise<{ readonly items: readonly object[]; readonly refused: ReadonlySet<string> }> {
  const items: object[] = [];
  const refused = new Set<string>();
  const reader = new ClusterReader(client);
  let isClaiming = false;
  for (const each of collections) {
    if (each.isOfDevices && !isClaiming) continue;
    const found = await readKind(client, each, reader);
    if (found === null) {
      warn(output, `skipped: no permission to ${describeRight(rightFor(each))}`);
      refused.add(each.path);
    }
    items.push(...(found ?? []));
    isClaiming ||= found?.some(claimsDevices) ?? false;
  }
  return { items, refused };
}

/** The permission that is needed to list a kind. */
function rightFor({ apiVersion, path, name }: Collection): Right {
  const group = apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '';
  const [, namespace] = /\/namespaces\/([^/]+)\//.exec(path) ?? [];
  const resource = path.split('/').at(-1) ?? '';
  return { verb: 'list', group, resource, ...(namespace && { namespace }), ...(name && { name }) };
}

/** The objects of a kind, redacted; null without permission to list them. */
async function readKind(
  client: ApiClient,
  collection: Collection,
  reader: ClusterReader,
): Promise<readonly object[] | null> {
  const { apiVersion, kind } = collection;
  try {
    const objects = await listCollection(client, collection, reader);
    return objects.map((object) => ({ apiVersion, kind, ...keptOf(kind, object) }));
  } catch (error) {
    if (error instanceof ApiError && error.failure.status === 403) return null;
    throw error;
  }
}

const list = { apiVersion: 'v1', kind: 'List', metadata: {} };

/** Object by object: the whole may be longer than a string can be. */
function writeJson({ output }: Invocation<SnapshotFlags>, items: readonly object[]): void {
  const head = JSON.stringify(list).slice(0, -1);
  output.write(`${head},"items":[`);
  for (const [index, item] of items.entries()) {
    output.write(`${index === 0 ? '\n' : ',\n'}${jsonText(item)}`);
  }
  output.write('\n]}\n');
}

async function writeYaml(
  { output }: Invocation<SnapshotFlags>,
  items: readonly object[],
): Promise<void> {
  const { yamlOf } = await import('../../render/yaml.ts');
  output.write(`${yamlOf(list)}items:\n`);
  for (const item of items) output.write(yamlOf([item]));
}
