// Whether the numbers that a custom resource is scaled by are numbers of replicas.
import type { Cause, Json, KubeObject } from '@taintmgr/sim-cluster/server';
import { invalidValue, isObject } from '@taintmgr/sim-cluster/server';
import type { DefinitionVersion } from '../structural/definition.ts';
import { isInteger } from '../structural/scalars.ts';

/** The scale subresource of a version; null for none. */
export type Scale = NonNullable<NonNullable<DefinitionVersion['subresources']>['scale']> | null;

const replicasMax = 2 ** 31 - 1;

/** What is wrong with the replicas that an object wants or, for a write of its status, has. */
export function scaleCauses(scale: Scale, object: KubeObject, isStatus: boolean): readonly Cause[] {
  const path = isStatus ? scale?.statusReplicasPath : scale?.specReplicasPath;
  if (!path) return [];
  let value: Json | undefined = object;
  for (const name of path.split('.').slice(1)) value = isObject(value) ? value[name] : undefined;
  if (typeof value !== 'number' || !isInteger(value)) return [];
  if (value < 0) return [invalidValue(path, value, 'should be a non-negative integer')];
  if (value <= replicasMax) return [];
  return [invalidValue(path, value, `should be less than or equal to ${replicasMax}`)];
}
