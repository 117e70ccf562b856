// The policies of --policy.
import type { LimitRule, NodeTaintRule } from '@taintmgr/core/policy';
import type { PolicyObject } from '@taintmgr/k8s-adapter/kinds';
import {
  FaultyFile,
  type FilePolicy,
  PolicyPathError,
  readPolicyManifests,
} from '@taintmgr/k8s-adapter/manifests';

/** Policies that cannot be used: a line for each fault. */
export class PolicyFilesError extends Error {
  override readonly name = 'PolicyFilesError';
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(faults.join('\n'));
    this.faults = faults;
  }
}

/** Throws PolicyFilesError. */
export function readPolicies(paths: readonly string[]): readonly FilePolicy[] {
  try {
    return readPolicyManifests(paths, Date.now());
  } catch (error) {
    if (error instanceof FaultyFile) {
      throw new PolicyFilesError(error.faults.map((fault) => `--policy ${fault}`));
    }
    if (error instanceof PolicyPathError) throw new PolicyFilesError([`--policy ${error.message}`]);
    throw error;
  }
}

/** The limits of all policies. */
export function limitsOf(objects: readonly PolicyObject[]): readonly LimitRule[] {
  return objects.flatMap(({ kind, value }) => (kind === 'EvictionPolicy' ? value.limits : []));
}

export function taintRulesOf(objects: readonly PolicyObject[]): readonly NodeTaintRule[] {
  return objects.flatMap(({ kind, value }) => (kind === 'NodeTaintRule' ? [value] : []));
}
