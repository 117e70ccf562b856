// The policies and pauses that keep or hold pods of a drain, read at its start and again while it runs.
import type { Event } from '@taintmgr/core';
import { ApiError, ConnectionError } from '@taintmgr/k8s-adapter';
import { type PolicyObject, policyKinds } from '@taintmgr/k8s-adapter/kinds';
import { readPolicyFlag } from '../../cli/common-flags.ts';
import type { Connection } from '../../cli/connection.ts';
import type { Evictor } from '../../cluster/evictors.ts';
import {
  type ClusterPolicies,
  noPolicies,
  policyEvents,
  readClusterPolicies,
  withKnown,
} from '../../cluster/policies.ts';
import { ClusterReader } from '../../cluster/reader.ts';
import type { DrainFlags } from './flags.ts';

/** Policies are read again after this time. */
const readEveryMs = 10_000;

/** Reads them for one drain. */
export class DrainPolicies {
  readonly #connection: Connection;
  readonly #files: readonly PolicyObject[];
  readonly #isIgnored: boolean;
  readonly #evictor: Evictor;
  #known: ClusterPolicies = noPolicies;

  /** `evictor`: whose policies count. */
  constructor(
    connection: Connection,
    evictor: Evictor,
    files: readonly PolicyObject[],
    isIgnored: boolean,
  ) {
    this.#connection = connection;
    this.#evictor = evictor;
    this.#files = files;
    this.#isIgnored = isIgnored;
  }

  /** Everything that is known of the policies, as events. */
  get events(): readonly Event[] {
    return policyEvents(this.#known);
  }

  /** The reason why a drain must not begin: unseen policies may keep pods; null: there is none. */
  get fault(): string | null {
    const hidden = this.#known.hidden.filter((kind) => kind !== 'NodeTaintRule');
    if (hidden.length === 0) return null;
    const names = hidden.map((kind) => policyKinds[kind].plural).join(' and ');
    return (
      `no permission to list ${names} of taintmgr.dev, which may keep pods; ` +
      '--ignore-policies drains without them; nothing was changed'
    );
  }

  /**
   * The changes since the last time; a kind that cannot be read any more stays as it was. Throws ApiError
   * and ConnectionError.
   */
  async read(reader: ClusterReader): Promise<readonly Event[]> {
    if (this.#isIgnored) return [];
    const before = this.#known;
    const evictor = Promise.resolve(this.#evictor);
    this.#known = withKnown(await readClusterPolicies(reader, evictor, this.#files), before);
    return policyEvents(this.#known, before);
  }

  /**
   * Reads them again and again; what cannot be read stays as it was. `refused` hears why, and null when
   * all can be read. Call what comes back to end it.
   */
  follow(feed: (event: Event) => void, refused: (why: string | null) => void): () => void {
    const look = async (): Promise<void> => {
      try {
        const reader = new ClusterReader(this.#connection.client);
        for (const event of await this.read(reader)) feed(event);
        refused(reader.refused[0] ?? null);
      } catch (error) {
        const isOver = error instanceof Error && error.name === 'AbortError';
        const isTheirs = error instanceof ApiError || error instanceof ConnectionError;
        if (!isTheirs && !isOver) throw error;
      }
    };
    const timer = setInterval(() => void look(), readEveryMs);
    return () => clearInterval(timer);
  }
}

/** The policies of the cluster and of the command line. Throws UsageError. */
export async function readDrainPolicies(
  connection: Connection,
  reader: ClusterReader,
  evictor: Evictor,
  flags: DrainFlags,
): Promise<DrainPolicies> {
  const files = await readPolicyFlag(flags);
  const policies = new DrainPolicies(connection, evictor, files, flags.ignorePolicies === true);
  await policies.read(reader);
  return policies;
}
