// Makes an EvictionPause and says what it does.
import type { Namespace } from '@taintmgr/core';
import { formatDuration, formatTime, type Instant } from '@taintmgr/core/time';
import { namespaceFromJson } from '@taintmgr/k8s-adapter/client';
import { withConnection } from '../../cli/connection.ts';
import { type DryRun, readDryRun } from '../../cli/dry-run-flag.ts';
import { type ExitCode, exitCode } from '../../cli/exit.ts';
import type { Invocation } from '../../cli/invocation.ts';
import { warn } from '../../cli/output.ts';
import { readEvictor } from '../../cluster/evictors.ts';
import { askForPauses, createPause, pauseReference } from '../../cluster/pauses.ts';
import { ClusterReader } from '../../cluster/reader.ts';
import { type Format, readFormat } from '../../render/format.ts';
import { printAnswer } from '../../render/printer.ts';
import { pausedText } from '../../report/pauses.ts';
import { UsageError } from '../../usage-error.ts';
import type { PauseFlags } from './flags.ts';
import { type NewPause, newPause, refuseOver } from './manifest.ts';
import {
  evictorWarnings,
  leavesOut,
  namespaceWarnings,
  pressureWarnings,
  refuseNowhere,
  zonesMeant,
} from './warnings.ts';

/** `pause NAME`: holds evictions. */
export async function run(invocation: Invocation<PauseFlags>, name: string): Promise<ExitCode> {
  const { flags, output } = invocation;
  const format = await readFormat(flags.output);
  const dryRun = readDryRun(flags.dryRun, ['none', 'server', 'client'], output);
  if (flags.namespace !== undefined) {
    const { namespace } = flags;
    throw new UsageError(
      `-n ${namespace}: a pause is in no namespace; to hold evictions of its pods only, give --namespaces ${namespace}`,
    );
  }
  // Whatever is wrong with the flags is said before anybody is asked.
  const local = Date.now();
  const meant = newPause(name, flags, local);
  if (dryRun === 'client') {
    refuseOver(meant, local);
    output.write(await printed(meant, meant.manifest, format, invocation, dryRun, local));
    return exitCode.done;
  }
  return await withConnection(invocation, async ({ client }) => {
    // What counts is the clock of the cluster.
    const now = (await askForPauses(client)) ?? local;
    const reader = new ClusterReader(client);
    const wanted = await placed(reader, name, flags, now);
    const made = await createPause(client, wanted.manifest, dryRun === 'server');
    output.write(await printed(wanted, made, format, invocation, dryRun, now));
    for (const text of await warnings(reader, wanted)) warn(output, text);
    return exitCode.done;
  });
}

/** The pause with its zones as nodes have them. Throws UsageError where it is for no node. */
async function placed(
  reader: ClusterReader,
  name: string,
  flags: PauseFlags,
  now: Instant,
): Promise<NewPause> {
  const looksAtNodes = flags.zones !== undefined || flags.nodeSelector !== undefined;
  const nodes = looksAtNodes ? await reader.ifAllowed(() => reader.nodes()) : null;
  const zones = nodes && flags.zones ? zonesMeant(flags.zones, nodes) : flags.zones;
  const wanted = newPause(name, { ...flags, zones }, now);
  refuseOver(wanted, now);
  if (nodes) refuseNowhere(wanted.pause, nodes);
  return wanted;
}

async function warnings(reader: ClusterReader, { pause }: NewPause): Promise<readonly string[]> {
  const managers = await reader.taintManagers();
  const evictors = await reader.evictors(Promise.resolve(managers));
  const read = {
    taintManagers: () => Promise.resolve(managers),
    podObject: (namespace: string, name: string) => reader.podObject(namespace, name),
  };
  const evictor = await readEvictor(evictors, read, reader.now());
  const takesOver = evictor.takesOver === true;
  const looksAtNamespaces = pause.scope.namespaces.length > 0 || takesOver;
  const namespaces = looksAtNamespaces ? await readNamespaces(reader) : null;
  const isLeftOut = takesOver && leavesOut(pause, namespaces);
  return [
    ...(namespaces === null ? [] : namespaceWarnings(pause, namespaces)),
    ...evictorWarnings(pause, evictors, evictor, isLeftOut),
    ...pressureWarnings(pause, managers, reader.now()),
  ];
}

/** Null: they may not be read. */
async function readNamespaces(reader: ClusterReader): Promise<readonly Namespace[] | null> {
  const objects = await reader.ifAllowed(() => reader.objects('/api/v1/namespaces'));
  return objects?.map(namespaceFromJson) ?? null;
}

const doneTexts: Readonly<Record<DryRun, readonly [done: string, is: string, are: string]>> = {
  none: ['created', 'is', 'are'],
  server: ['created (server dry run)', 'would be', 'would be'],
  client: ['created (dry run)', 'would be', 'would be'],
};

function printed(
  { pause }: NewPause,
  made: object,
  format: Format,
  { flags }: Invocation<PauseFlags>,
  dryRun: DryRun,
  now: Instant,
): Promise<string> {
  const reference = pauseReference(pause.name);
  const [done, is, are] = doneTexts[dryRun];
  const isOne = pause.readiness && !pause.deadlines;
  const { until } = pause;
  const end =
    until === null
      ? `until somebody runs: kubectl taintmgr resume pause/${pause.name}`
      : `until ${formatTime(until)}, in ${formatDuration(until - now)}`;
  const answer = {
    document: made,
    rows: [made],
    names: [reference],
    table: () => `${reference} ${done}: ${pausedText(pause)} ${isOne ? is : are} held ${end}`,
  };
  return printAnswer(answer, format, flags.headers !== false);
}
