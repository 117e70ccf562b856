import type { Budget, Instant } from '@taintmgr/core';
import type { Evictors } from '@taintmgr/k8s-adapter';
import type { Connection } from '../../cli/connection.ts';
import type { NodeFacts, PodFacts } from '../../cluster/facts.ts';
import type { ClusterReader } from '../../cluster/reader.ts';

/** What the checks look at. What may not be seen is null. */
export interface Patient {
  readonly connection: Connection;
  readonly at: Instant;
  readonly nodes: readonly NodeFacts[] | null;
  readonly pods: readonly PodFacts[] | null;
  readonly budgets: readonly Budget[] | null;
  readonly evictors: Evictors;
}

/** Reads everything once. */
export async function readPatient(connection: Connection, reader: ClusterReader): Promise<Patient> {
  const [nodes, pods, budgets, evictors] = await Promise.all([
    reader.ifAllowed(() => reader.nodes()),
    reader.ifAllowed(() => reader.pods()),
    reader.budgets(),
    reader.evictors(),
  ]);
  return { connection, at: Date.now(), nodes, pods, budgets, evictors };
}
