import type { Budget, Instant } from '@taintmgr/core';
import { type Acting, readActing } from '../../cluster/acting.ts';
import type { NodeFacts, PodFacts } from '../../cluster/facts.ts';
import type { ClusterReader } from '../../cluster/reader.ts';
import type { Connection } from '../../connection.ts';

/** What the checks look at. What may not be seen is null. */
export interface Patient {
  readonly connection: Connection;
  readonly at: Instant;
  readonly nodes: readonly NodeFacts[] | null;
  readonly pods: readonly PodFacts[] | null;
  readonly budgets: readonly Budget[] | null;
  readonly acting: Acting;
}

/** Reads everything once. */
export async function readPatient(connection: Connection, reader: ClusterReader): Promise<Patient> {
  const [nodes, pods, budgets, acting] = await Promise.all([
    reader.ifAllowed(() => reader.nodes()),
    reader.ifAllowed(() => reader.pods()),
    reader.budgets(),
    readActing(reader, Date.now()),
  ]);
  return { connection, at: Date.now(), nodes, pods, budgets, acting };
}
