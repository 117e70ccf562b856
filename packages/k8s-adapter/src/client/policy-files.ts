// Reads the files of --policy.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Instant } from '@taintmgr/core/time';
import type { PolicyObject } from '../kinds/manifest.ts';
import { distinct, type PlacedPolicy, policiesIn } from '../manifests/policies.ts';
import { FaultyFile } from '../manifests/positioned.ts';

/** A path that leads to no manifests; the message names it. */
export class PolicyPathError extends Error {
  override readonly name = 'PolicyPathError';
}

/** The file that kustomize wants in a directory says nothing itself. */
const kustomization = /^kustomization\.ya?ml$/;

/**
 * The policies of files, and of all files of directories in the order of their names: `.yaml`,
 * `.yml`, `.json`. `now` is since when a pause holds that does not say so itself; `others` are of files
 * that hold more than policies. Throws PolicyPathError, and FaultyFile with all that is wrong.
 */
export function readPolicyFiles(
  paths: readonly string[],
  now: Instant,
  others: readonly PlacedPolicy[] = [],
): readonly PolicyObject[] {
  return distinct([...others, ...readPlacedPolicies(paths, now)]);
}

/** An object of a file, and its manifest as it stands there. */
export interface FilePolicy {
  /** The object, with its defaults. */
  readonly object: PolicyObject;
  /** The manifest as plain data, without defaults. */
  readonly manifest: unknown;
}

/**
 * Reads policies as `readPolicyFiles`, with their manifests as they stand in the files. Throws what
 * that throws.
 */
export function readPolicyManifests(paths: readonly string[], now: Instant): readonly FilePolicy[] {
  const placed = readPlacedPolicies(paths, now);
  distinct(placed);
  return placed.map(({ object, field }) => ({ object, manifest: field.value }));
}

function readPlacedPolicies(paths: readonly string[], now: Instant): readonly PlacedPolicy[] {
  const faults: string[] = [];
  const placed: PlacedPolicy[] = [];
  for (const file of paths.flatMap(filesOf)) {
    try {
      placed.push(...policiesIn(file, read(file), now));
    } catch (error) {
      if (!(error instanceof FaultyFile)) throw error;
      faults.push(...error.faults);
    }
  }
  if (faults.length > 0) throw new FaultyFile(faults);
  return placed;
}

function filesOf(path: string): readonly string[] {
  if (!attempt(path, () => statSync(path).isDirectory())) return [path];
  const names = attempt(path, () => readdirSync(path)).filter((name) => {
    return /\.(ya?ml|json)$/.test(name) && !name.startsWith('.') && !kustomization.test(name);
  });
  if (names.length > 0) return names.sort().map((name) => join(path, name));
  throw new PolicyPathError(`${path}: no file in it ends in .yaml, .yml or .json`);
}

function read(file: string): string {
  return attempt(file, () => readFileSync(file, 'utf8')).replace(/^\uFEFF/, '');
}

function attempt<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const { code = 'unreadable' } = error as NodeJS.ErrnoException;
    throw new PolicyPathError(`${path}: ${code === 'ENOENT' ? 'no such file' : code}`);
  }
}
