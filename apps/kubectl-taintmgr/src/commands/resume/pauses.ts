// Ends pauses: deletes them, and says how long evictions were held.
import type { EvictionPause } from '@taintmgr/core/policy';
import { formatDuration, formatTime, type Instant } from '@taintmgr/core/time';
import type { ApiClient } from '@taintmgr/k8s-adapter';
import { isObjectName } from '../../cli/names.ts';
import { deletePause, pauseReference, readPause } from '../../cluster/pauses.ts';
import { pausedText } from '../../report/pauses.ts';
import { UsageError } from '../../usage-error.ts';

/** A pause that is there. */
export interface FoundPause {
  readonly pause: EvictionPause;
  /** The API server's time. */
  readonly now: Instant;
}

/** The name in `pause/network-work`, or as kubectl writes it; null: it is that of a limit. Throws UsageError. */
export function pauseNameIn(text: string): string | null {
  const [, name] = /^(?:pause|epause|evictionpauses?(?:\.taintmgr\.dev)?)\/(.*)$/s.exec(text) ?? [];
  if (name === undefined) return null;
  if (isObjectName(name)) return name;
  throw new UsageError(`got ${JSON.stringify(text)}, want pause/NAME with the name of a pause`);
}

/** Reads pauses. Throws UsageError where one is not there. */
export async function findPauses(
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
        `pause '${name}' cannot be read; kubectl delete ${pauseReference(name)} deletes it all the same`,
      );
    }
    found.push({ pause: one.pause, now: one.now });
  }
  return found;
}

/** Deletes a pause; what to say of it. */
export async function endPause(client: ApiClient, { pause, now }: FoundPause): Promise<string> {
  await deletePause(client, pause);
  const { name, since, until, deadlines, readiness } = pause;
  const end = Math.min(now, until ?? now);
  const over = end < now ? `; it was over at ${formatTime(end)}` : '';
  const held = formatDuration(Math.max(0, end - since));
  return `${pauseReference(name)} deleted: ${pausedText(pause)} ${deadlines || !readiness ? 'were' : 'was'} held for ${held}${over}`;
}
