// Everything that the package offers, by name: a new name, or one that is gone, is on purpose.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import * as door from '../src/index.ts';

const values = `
  ApiError Cluster Placement PlainServer RealClock VirtualClock amountsOf bringToRest daemonSet
  defaultTiming deployment hasUnreadyContainers job loadRefusal namespace node pdb pod
  requestsOf seededRandom statefulSet taint threeZones toleration topologyObjects unknownRulesOf
  withSystemPods`;

const types = `
  ApiRequest Change ClientObject Clock ClusterApi ClusterPart Exchange Fault FaultRule Json KubeObject
  Kubelet KubeletTiming LoadReport NodeConditionType NodeDescription ObjectMeta OwnerReference PlacementOptions
  PodTiming Random RangeMs ResponseSink RestingCluster Rule SelectsDevice StatsFault Taint TimedToleration Timer
  Topology
  UnknownRule Unloaded User WorkloadOptions`;

it('the package offers exactly these values and types', () => {
  const source = readFileSync(new URL('../src/index.ts', import.meta.url), 'utf8');
  assert.deepEqual(Object.keys(door).sort(), words(values));
  assert.deepEqual(exportedTypes(source), words(types));
});

function words(text: string): readonly string[] {
  return text.split(/\s+/).filter((word) => word !== '');
}

/** The types in the door's export lists: those of `export type {}`, and each `type` in the others. */
function exportedTypes(source: string): readonly string[] {
  const lists = Array.from(source.matchAll(/export (type )?\{([^}]*)\}/g));
  const types = lists.flatMap(([, isTypes, list = '']) => {
    const names = list.split(',').map((name) => name.trim());
    const typed = names.filter((name) => name !== '' && (isTypes || name.startsWith('type ')));
    return typed.map((name) => name.replace(/^type /, ''));
  });
  return types.sort();
}
