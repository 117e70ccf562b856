// Reads what leaders of taintmgr-controller have kept of departures, in ConfigMaps beside the lease of their election.
import type { Instant } from '@taintmgr/core/time';
import { gzip } from '../driver/gzip.ts';
import type { Departure, Gap } from '../history/departure.ts';
import { HistorySearch } from '../history/search.ts';
import { type Segment, segmentFrom, segmentNames, segmentPath } from '../history/segment.ts';
import type { LeaseName } from '../proto/lease-requests.ts';
import { type ClusterReader, inTurns } from '../survey/reader.ts';
import { unless } from '../survey/refusals.ts';

/** The records that leaders have kept. */
export interface Records {
  readonly departures: readonly Departure[];
  readonly gaps: readonly Gap[];
  /** The number of earlier ones that are left out. */
  readonly leftOut: number;
  /** `forbidden`: they may not be read; `none`: there are none where it was looked. */
  readonly found: 'read' | 'none' | 'forbidden';
  /** The namespaces where it was looked. */
  readonly namespaces: readonly string[];
  /** The time of the leader's last write; null: there was none. */
  readonly savedAt: Instant | null;
}

interface Query {
  readonly namespace: string | null;
  readonly pod?: string;
  readonly node?: string;
  readonly since?: Instant;
}

/** The number of the latest departures to report. */
const departuresMax = 500;

/** Reads the records of the controllers with these leases. */
export async function readRecords(
  reader: ClusterReader,
  leases: readonly LeaseName[],
  { namespace, pod, node, since }: Query,
): Promise<Records> {
  const search = new HistorySearch(
    {
      ...(namespace !== null && { namespace }),
      ...(pod !== undefined && { pod }),
      ...(node !== undefined && { node }),
      ...(since !== undefined && { since }),
    },
    departuresMax,
  );
  const read = await inTurns(leases, (lease) => readSegments(reader, lease));
  const segments = read.flatMap((one) => one ?? []).sort((a, b) => a.sequence - b.sequence);
  const blocks = segments.flatMap((segment) => segment.blocks);
  for (const block of blocks) search.readBlock(block, gzip);
  const isHidden = segments.length === 0 && read.includes(null);
  return {
    ...search.found,
    found: isHidden ? 'forbidden' : segments.length === 0 ? 'none' : 'read',
    namespaces: [...new Set(leases.map((lease) => lease.namespace))],
    savedAt: segments.length === 0 ? null : Math.max(...segments.map(({ savedAt }) => savedAt)),
  };
}

/** Null: they may not be read. The first is there where any is. */
async function readSegments(
  reader: ClusterReader,
  lease: LeaseName,
): Promise<readonly Segment[] | null> {
  const [first, ...others] = segmentNames(lease);
  if (!first) return [];
  const read = (name: LeaseName): Promise<unknown> =>
    unless(403, () => reader.objectIfThere(segmentPath(name)), 'forbidden');
  const found = await read(first);
  if (found === 'forbidden') return null;
  const objects = found === null ? [] : [found, ...(await inTurns(others, read))];
  return objects.flatMap((object) => segmentFrom(object) ?? []);
}
