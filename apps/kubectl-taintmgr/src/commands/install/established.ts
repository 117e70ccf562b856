// Waits until the API server serves kinds.
import { setTimeout } from 'node:timers/promises';
import type { Millis } from '@taintmgr/core/time';

/** A definition whose kind is not served. */
export interface Waiting {
  readonly name: string;
  readonly why: string;
}

const askEveryMs: Millis = 200;

/** Those of these definitions that are not established when the time is over. */
export async function untilEstablished(
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

/** What a definition says of it; null: its kind is served. */
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
