// Ends pauses, and lets limits that tripped evict again: resume.
import type { EvictionPause } from '@taintmgr/core/policy';
import { formatDuration, formatTime, type Instant } from '@taintmgr/core/time';
import { type ApiClient, resumeLimitsRequest } from '@taintmgr/k8s-adapter';
import { UsageError } from '@taintmgr/k8s-adapter/command-line';
import { pausedText } from '@taintmgr/k8s-adapter/explain';
import {
  ClusterReader,
  readLimits,
  readLimitsIn,
  type TaintManager,
  type TrippedLimit,
  whoAmI,
} from '@taintmgr/k8s-adapter/survey';
import { withConnection } from '../cli/connection.ts';
import { type ExitCode, exitCode } from '../cli/exit.ts';
import type { Invocation } from '../cli/registry.ts';
import { isObjectName } from '../cli/values.ts';
import { deletePause, pauseReference, readPause } from '../cluster/pauses.ts';

/** The command line of `resume`. */
export interface ResumeFlags {
  readonly lease?: string | undefined;
}

/** `resume [LIMIT|pause/NAME...]`: opens limits that have tripped, and ends pauses. */
export async function run(
  invocation: Invocation<ResumeFlags>,
  names: readonly string[],
): Promise<ExitCode> {
  const { output } = invocation;
  const pauseNames = new Set(names.flatMap((name) => pauseNameIn(name) ?? []));
  const limits = names.filter((name) => pauseNameIn(name) === null);
  return await withConnection(invocation, async ({ client }) => {
    const pauses = await findPauses(client, [...pauseNames]);
    if (limits.length > 0 || pauses.length === 0) await openLimits(client, invocation, limits);
    for (const pause of pauses) output.out(await endPause(client, pause));
    return exitCode.done;
  });
}

/** Asks the controller to open these limits, or all tripped ones. */
async function openLimits(
  client: ApiClient,
  { flags, output }: Invocation<ResumeFlags>,
  names: readonly string[],
): Promise<void> {
  const reader = new ClusterReader(client);
  const managers = await reader.taintManagers();
  const lease = leaseIn(flags.lease);
  const now = Date.now();
  const found = await (lease
    ? readLimitsIn(lease, reader, now)
    : readLimits(reader, now, managers));
  if (found === 'forbidden') {
    throw new UsageError(
      'the lease that keeps the limits cannot be read: this needs the rights get and patch on it, ' +
        'and --lease where it is another',
    );
  }
  if (found === null) failWhereTripped(managers);
  const tripped = found?.tripped ?? [];
  const unknown = names.find((name) => !tripped.some(({ id }) => id === name));
  if (unknown !== undefined) throw new UsageError(notTripped(unknown, tripped));
  if (found === null || tripped.length === 0) {
    output.out('No limit has tripped.');
    return;
  }
  const limits = names.length === 0 ? tripped.map(({ id }) => id) : names;
  const by = (await whoAmI(client)) ?? 'an unknown user';
  await client.send(resumeLimitsRequest(found.lease, { limits, by }));
  for (const limit of limits) {
    output.out(`limit ${limit} will be resumed: the controller looks for requests every 5 s`);
  }
}

/** No record is not to say that nothing has tripped: a leader may publish that something has. */
function failWhereTripped(managers: readonly TaintManager[]): void {
  for (const { name, trippedLimits: [limit] = [], shadow } of managers) {
    if (limit === undefined || shadow !== null) continue;
    throw new UsageError(
      `limit '${limit}' has tripped, as TaintManager ${name} says, and the lease that keeps it was not found: ` +
        '--lease NAMESPACE/NAME says which it is',
    );
  }
}

function notTripped(name: string, tripped: readonly TrippedLimit[]): string {
  const known = tripped.map(({ id }) => `'${id}'`).join(', ');
  const others = known === '' ? 'nor has any other' : `those that have: ${known}`;
  const pause = isObjectName(name) ? `; to end a pause: resume pause/${name}` : '';
  return `limit '${name}' has not tripped; ${others}${pause}`;
}

/** `namespace/name`. */
function leaseIn(text: string | undefined): { namespace: string; name: string } | null {
  if (text === undefined) return null;
  const [namespace = '', name = '', ...others] = text.split('/');
  if (namespace === '' || name === '' || others.length > 0) {
    throw new UsageError(`--lease: got "${text}", want NAMESPACE/NAME`);
  }
  return { namespace, name };
}

/** A pause that is there. */
interface FoundPause {
  readonly pause: EvictionPause;
  /** The API server's time. */
  readonly now: Instant;
}

/** The name in `pause/network-work`, or as kubectl writes it; null: it is that of a limit. Throws UsageError. */
function pauseNameIn(text: string): string | null {
  const [, name] = /^(?:pause|epause|evictionpauses?(?:\.taintmgr\.dev)?)\/(.*)$/s.exec(text) ?? [];
  if (name === undefined) return null;
  if (isObjectName(name)) return name;
  throw new UsageError(`got ${JSON.stringify(text)}, want pause/NAME with the name of a pause`);
}

/** Reads pauses. Throws UsageError where one is not there. */
async function findPauses(
  client: ApiClient,
  names: readonly string[],
): Promise<readonly FoundPause[]> {
  const found: FoundPause[] = [];
  for (const name of names) {
    const one = await readPause(client, name, Date.now());
    if (one === null) {
      throw new UsageError(`there is no pause '${name}'; kubectl get evictionpauses lists them`);
    }
    if (one.pause === null) {
      throw new UsageError(
        `pause '${name}' cannot be read; kubectl delete ${pauseReference(name)} deletes it anyway`,
      );
    }
    found.push({ pause: one.pause, now: one.now });
  }
  return found;
}

/** Deletes a pause; what to say of it. */
async function endPause(client: ApiClient, { pause, now }: FoundPause): Promise<string> {
  await deletePause(client, pause);
  const { name, since, until, deadlines, readiness } = pause;
  const end = Math.min(now, until ?? now);
  const over = end < now ? `; it was over at ${formatTime(end)}` : '';
  const held = formatDuration(Math.max(0, end - since));
  return `${pauseReference(name)} deleted: ${pausedText(pause)} ${deadlines || !readiness ? 'were' : 'was'} held for ${held}${over}`;
}
