// What events of a script name that is not in the cluster, with what is.

import { didYouMean, type Field } from '@taintmgr/k8s-adapter/manifests';
import type { Cluster } from '@taintmgr/sim-cluster';
import { zoneNames } from '../../../cluster/facts.ts';
import { choicesText } from '../../../render/count.ts';
import type { About } from '../script/action.ts';
import type { ScriptEvent } from '../script/script.ts';
import { type Targets, targetsOf, targetsText } from '../script/targets.ts';

/** The faults of an event that names what is not there and never will be. */
export function unmeant(
  { field, action: { targets, about } }: ScriptEvent,
  cluster: Cluster,
  events: readonly ScriptEvent[],
): readonly string[] {
  if (about) return aboutFaults(about, cluster);
  if (!targets) return [];
  const added = events.flatMap(({ action }) => action.adds ?? []);
  if (targets.kind !== 'names') {
    const found = targetsOf(targets, cluster).length + added.length;
    return found > 0 ? [] : [nobody(field, targets, cluster)];
  }
  const nodes = cluster.api.list('nodes').map(({ metadata }) => metadata.name);
  const names = [...nodes, ...added.map(({ metadata }) => metadata.name)];
  return targets.names
    .filter((name) => !names.includes(name))
    .map((name) => field.fault(`there is no node ${name}${thereAre(name, names)}`).message);
}

const aboutResources: Readonly<Record<About['what'], readonly string[]>> = {
  workload: ['deployments', 'statefulsets', 'replicasets', 'daemonsets'],
  'workload that scales': ['deployments', 'statefulsets', 'replicasets'],
  budget: ['poddisruptionbudgets'],
};

/** What an event is about beside nodes: a workload or a budget. */
function aboutFaults({ field, what, name }: About, { api }: Cluster): readonly string[] {
  const objects = aboutResources[what].flatMap((resource) => api.list(resource));
  const names = objects
    .filter(({ metadata }) => !metadata.ownerReferences?.some(({ controller }) => controller))
    .map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
  if (names.includes(name)) return [];
  return [field.fault(`there is no ${what} ${name}${thereAre(name, names)}`).message];
}

/** The fault of an event that is about no node. */
export function nobody(field: Field, targets: Targets | null, cluster: Cluster): string {
  if (targets?.kind !== 'zone') {
    return field.fault(`no node is meant by ${targets ? targetsText(targets) : 'it'}`).message;
  }
  const zones = zonesOf(cluster, targets.zone);
  const text = `no node is meant by zone ${targets.zone}${thereAre(targets.zone, zones)}`;
  return field.fault(text).message;
}

/** With their regions where the one that is asked for has one. */
function zonesOf({ api }: Cluster, like: string): readonly string[] {
  const zones = api.list('nodes').flatMap(({ metadata }) => {
    return zoneNames(metadata.labels ?? {}).at(like.includes('/') ? 0 : -1) ?? [];
  });
  return [...new Set(zones)].sort();
}

/** `, did you mean zone-a? there are zone-a, zone-b` */
export function thereAre(name: string, names: readonly string[]): string {
  return `${didYouMean(name, names) || ';'} there are ${choicesText(names)}`;
}
