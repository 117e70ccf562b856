// The findings of a check of manifests, each with its place.
import { policyApiVersion } from '@taintmgr/k8s-adapter/kinds';
import type { Field } from '@taintmgr/k8s-adapter/manifests';
import type { Manifest } from '../../../cluster/manifests.ts';
import type { Finding, Level } from '../finding.ts';

export interface PlacedFinding extends Finding {
  readonly file: string;
  readonly line: number;
}

/** A finding about an object; `at`: the value that is wrong, where there is one. */
export function findingAt(
  check: string,
  level: Level,
  { manifest, at }: { readonly manifest: Manifest; readonly at?: Field | null },
  message: string,
  fix: string = '',
): PlacedFinding {
  const { file, field } = manifest;
  const line = lineOf(at ?? field.find(['metadata', 'name']) ?? field);
  return { check, level, file, line, about: aboutOf(manifest), message, fix };
}

/** Kinds of Kubernetes that findings are about and that are in no namespace. */
const clusterKinds = ['DeviceTaintRule', 'DeviceClass', 'ResourceSlice'];

/** `pdb/web -n shop`, as kubectl takes it. Our kinds are in no namespace. */
export function aboutOf({ apiVersion, kind, name, namespace }: Manifest): string {
  const short = kind === 'PodDisruptionBudget' ? 'pdb' : kind.toLowerCase();
  if (apiVersion === policyApiVersion || clusterKinds.includes(kind)) return `${short}/${name}`;
  return `${short}/${name} -n ${namespace}`;
}

/** `FILE:LINE`, as editors and CI logs take it. */
export function placeOf({ file, line }: Pick<PlacedFinding, 'file' | 'line'>): string {
  return `${file}:${line}`;
}

/** The line of a value, or of its name where the value begins below. */
function lineOf({ place }: Field): number {
  return Number(/:(\d+):\d+$/.exec(place)?.[1] ?? 1);
}
