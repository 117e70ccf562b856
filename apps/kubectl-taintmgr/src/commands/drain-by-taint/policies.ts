// The policies and pauses that keep or hold pods of a drain, read at its start and again while it runs.
import type { Event } from '@taintmgr/core';
import { ApiError, ConnectionError } from '@taintmgr/k8s-adapter';
import { policyKinds } from '@taintmgr/k8s-adapter/kinds';
import {
  type ClusterPolicies,
  ClusterReader,
  type Evictor,
  noPolicies,
  policyEvents,
  readClusterPolicies,
  withKnown,
} from '@taintmgr/k8s-adapter/survey';
import { readPolicyFlag } from '../../cli/common-flags.ts';
import type { Connection } from '../../cli/connection.ts';
import type { Invocation } from '../../cli/registry.ts';
import type { DrainFlags } from './flags.ts';

/** Policies are read again after this time. */
const readEveryMs = 10_000;

/** The policies and pauses of one drain. */
export interface DrainPolicies {
  /** Everything that is known of them, as events. */
  readonly events: readonly Event[];
  /** The reason why a drain must not begin: unseen policies may keep pods; null: there is none. */
  readonly fault: string | null;
  /**
   * Reads them again and again; what cannot be read stays as it was. `refused` hears why, and null when all
   * can be read. Call the returned function to end it.
   */
  follow(feed: (event: Event) => void, refused: (why: string | null) => void): () => void;
}

/** The policies of the cluster and of the command line; `evictor`: whose policies count. Throws UsageError. */
export async function readDrainPolicies(
  connection: Connection,
  first: ClusterReader,
  evictor: Evictor,
  { flags, output }: Pick<Invocation<DrainFlags>, 'flags' | 'output'>,
): Promise<DrainPolicies> {
  const files = await readPolicyFlag(flags, output);
  let known = noPolicies;
  /** The changes since the last time. */
  const read = async (reader: ClusterReader): Promise<readonly Event[]> => {
    if (flags.ignorePolicies) return [];
    const before = known;
    known = withKnown(await readClusterPolicies(reader, Promise.resolve(evictor), files), before);
    return policyEvents(known, before);
  };
  const events = await read(first);
  return {
    events,
    fault: faultOf(known),
    follow(feed, refused) {
      const look = async (): Promise<void> => {
        const reader = new ClusterReader(connection.client);
        try {
          for (const event of await read(reader)) feed(event);
          refused(reader.refused[0] ?? null);
        } catch (error) {
          const isOver = error instanceof Error && error.name === 'AbortError';
          const isTheirs = error instanceof ApiError || error instanceof ConnectionError;
          if (!isTheirs && !isOver) throw error;
        }
      };
      const timer = setInterval(() => void look(), readEveryMs);
      return () => clearInterval(timer);
    },
  };
}

function faultOf({ hidden }: ClusterPolicies): string | null {
  const kinds = hidden.filter((kind) => kind !== 'NodeTaintRule');
  if (kinds.length === 0) return null;
  const names = kinds.map((kind) => policyKinds[kind].plural).join(' and ');
  return (
    `no permission to list ${names} of taintmgr.dev, which may keep pods; ` +
    '--ignore-policies drains without them; nothing was changed'
  );
}
