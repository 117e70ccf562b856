// A cluster on its way to another thread, which builds the same of it without reading anything.
import { snapshotBuilding } from './snapshot.ts';
import type { ClusterSource } from './source.ts';
import { topologyBuilding } from './topology.ts';

/** All of a source that is data. */
export type SourceData = Omit<ClusterSource, 'make' | 'bringToRest'>;

export function dataOf(source: ClusterSource): SourceData {
  const { make: _, bringToRest: __, ...data } = source;
  return data;
}

export function sourceOf(data: SourceData): ClusterSource {
  const { parts } = data;
  const building =
    parts.kind === 'snapshot' ? snapshotBuilding(parts.snapshot) : topologyBuilding(parts);
  return { ...data, ...building };
}
