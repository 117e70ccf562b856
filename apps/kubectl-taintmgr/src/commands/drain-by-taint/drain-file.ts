// The NodeDrain of a file, which says what the flags say otherwise.
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { readManifest } from '@taintmgr/k8s-adapter/kinds';
import { fileFault, UsageError } from '../../usage-error.ts';
import { drainFlags } from './flags.ts';
import type { NodeDrainRead } from './manifest.ts';

/** Reads one. Throws UsageError with all that is wrong, `file:line:column` first. */
export async function readDrainFile(path: string): Promise<NodeDrainRead> {
  const file = path === '-' ? '<stdin>' : path;
  const content = await contentOf(path);
  // The reader of YAML takes long to load.
  const { FaultyFile, readPositioned } = await import('@taintmgr/k8s-adapter/manifests');
  try {
    const field = readPositioned(file, content.replace(/^\uFEFF/, ''), 'a NodeDrain');
    const judged = readManifest(field.value, Date.now());
    if (judged.kind === 'refused') {
      throw new FaultyFile(
        judged.faults.map((fault) => field.faultAt(fault.path, fault.text).message),
      );
    }
    const { kind, value } = judged.value;
    if (kind !== 'NodeDrain') {
      throw new FaultyFile([field.faultAt(['kind'], `got kind ${kind}, want NodeDrain`).message]);
    }
    return { manifest: field.value as object, drain: value };
  } catch (error) {
    if (error instanceof FaultyFile) throw new UsageError(error.faults);
    throw error;
  }
}

async function contentOf(path: string): Promise<string> {
  try {
    return path === '-' ? await text(process.stdin) : await readFile(path, 'utf8');
  } catch (error) {
    throw fileFault(`--filename ${path}`, error);
  }
}

/** Throws UsageError for what the command line says beside a file that says it. */
export function refuseBesideFile(
  given: ReadonlySet<string>,
  [taint, ...nodes]: readonly (string | undefined)[],
): void {
  const name = taint ?? nodes[0];
  if (name !== undefined) {
    throw new UsageError(
      `--filename and the argument ${name} exclude each other: the file says it`,
    );
  }
  if (given.has('podSelector')) {
    const instead = 'an EvictionPolicy with action Keep leaves pods where they are';
    throw new UsageError(`--filename and --pod-selector exclude each other: ${instead}`);
  }
  for (const [flag, { option, field }] of Object.entries(drainFlags)) {
    if (field === null || !given.has(flag)) continue;
    throw new UsageError(
      `--filename and ${option.long} exclude each other: the file says it, in ${field}`,
    );
  }
}

/** Throws UsageError for what only a controller carries out. */
export function refuseServerFields({ drain: { spec } }: NodeDrainRead): void {
  const fields = [
    [spec.laterNodes === 'Drain', 'spec.laterNodes: Drain'],
    [spec.paused, 'spec.paused: true'],
    [spec.nodeConditions === 'Publish', 'spec.nodeConditions: Publish'],
    [spec.maintenancePlanned === 'Require', 'spec.maintenancePlanned: Require'],
    [spec.pods.evictBy === 'EvictionRequest', 'spec.pods.evictBy: EvictionRequest'],
    [spec.whileClosed === 'RollBack', 'spec.whileClosed: RollBack'],
    [spec.ttlSecondsAfterFinished !== undefined, 'spec.ttlSecondsAfterFinished'],
  ] as const;
  const found = fields.find(([isAsked]) => isAsked);
  if (found) throw new UsageError(`--filename: ${found[1]} is only there with --server-side`);
}
