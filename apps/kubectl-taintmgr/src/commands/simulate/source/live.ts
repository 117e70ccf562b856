// A live cluster as the beginning of a simulation.
import { type ApiClient, ApiError } from '@taintmgr/k8s-adapter';
import { collections, listCollection } from '../../../cluster/collections.ts';
import { type Evictor, readEvictor } from '../../../cluster/evictors.ts';
import { policiesInForce } from '../../../cluster/policies.ts';
import { ClusterReader } from '../../../cluster/reader.ts';
import type { OwnSettings } from '../../../cluster/taint-managers.ts';
import { snapshotSource } from './snapshot.ts';
import type { ClusterSource } from './source.ts';

/** Reads a live cluster. What we may not see is missing. Throws ApiError and ConnectionError. */
export async function liveSource(client: ApiClient, context: string): Promise<ClusterSource> {
  const values: object[] = [];
  const refused: string[] = [];
  for (const collection of collections) {
    const { apiVersion, kind } = collection;
    try {
      const items = await listCollection(client, collection);
      values.push({ apiVersion, kind: `${kind}List`, items });
    } catch (error) {
      // Without nodes there is nothing to simulate.
      const mayGoOn = error instanceof ApiError && error.failure.status === 403 && kind !== 'Node';
      if (!mayGoOn) throw error;
      // Namespaces are made for what is in them, and missing only where a policy asks for their labels.
      if (kind !== 'Namespace') refused.push(`${kind}: ${error.failure.message}`);
    }
  }
  const source = snapshotSource({ name: context, values, places: null });
  const evictor = await evictorIn(client);
  const { settings, ownPod } = evictor;
  const missing = [...refused, ...source.missing];
  const upstreamSince = evictor.upstreamSince ?? source.upstreamSince;
  const found = { ...source, upstreamSince, missing };
  if (!settings) return found;
  const run = asRun(found, settings);
  return ownPod ? { ...run, engine: { ...run.engine, ownPod } } : run;
}

async function evictorIn(client: ApiClient): Promise<Evictor> {
  const reader = new ClusterReader(client);
  return await readEvictor(await reader.evictors(), reader);
}

/** As the controller runs that acts there, as far as that is known. */
function asRun(source: ClusterSource, settings: OwnSettings): ClusterSource {
  const { engine, mode, lifecycle, watchesNodes, unusable } = settings;
  const { takeover: _, ...others } = engine;
  const { objects, ofController, unknown } = policiesInForce(source.policies, settings);
  const left = [...unusable, ...unknown.map((name) => `the policy ${name} of a file`)];
  return {
    ...source,
    policies: objects,
    engine: { ...others, ...(mode && { mode }), ...(watchesNodes && { lifecycle }) },
    notes: [
      ...(ofController.length === 0
        ? source.notes
        : [
            ...source.notes,
            `in force by files of taintmgr-controller: ${ofController.join(', ')}`,
          ]),
      ...left.map((what) => `taintmgr-controller runs with ${what}, which is not known here`),
    ],
  };
}
