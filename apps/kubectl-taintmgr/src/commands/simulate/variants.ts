// The runs that are played beside each other: by whose rules, with which policies, in which cluster.
import type { Instant } from '@taintmgr/core/time';
import { rulesOf, UsageError } from '@taintmgr/k8s-adapter/command-line';
import type { PolicyObject } from '@taintmgr/k8s-adapter/kinds';
import { PolicyPathError, readPolicyFiles } from '@taintmgr/k8s-adapter/manifests';
import { filesFirst } from '@taintmgr/k8s-adapter/survey';
import type { Overlay } from './apply/apply.ts';
import {
  afterName,
  beforeName,
  type SimulateFlags,
  unchangedWord,
  upstreamWord,
  type VariantFlag,
} from './flags.ts';
import type { Script } from './script/script.ts';
import type { ClusterSource } from './source/source.ts';
import type { Semantics } from './stage/run.ts';

/** A run of the comparison. */
export interface Variant {
  readonly name: string;
  /** The cluster in which it is played. */
  readonly source: ClusterSource;
  readonly semantics: Semantics;
  readonly policies: readonly PolicyObject[];
  /** The manifests that are laid over the cluster; left out: none are. */
  readonly overlay?: Overlay;
}

/** The runs to play side by side: variants, or the script's rules and maybe the other rules. */
export function variantsIn(
  flags: SimulateFlags,
  script: Script,
  source: ClusterSource,
  overlay: Overlay | null = null,
): readonly Variant[] {
  if (overlay) return beforeAndAfter(flags, script, source, overlay);
  const policies = policiesOf(flags, script, source);
  const [own = 'precise', ...others] = rulesIn(flags, script, source);
  const { variant = [] } = flags;
  if (variant.length > 0) {
    const ofFiles = ownRules(script, source);
    return variantsOf(variant, { own, ofFiles, policies, source });
  }
  return [own, ...others].map((semantics) => ({
    name: rulesOf(semantics),
    source,
    semantics,
    policies,
  }));
}

/**
 * Both follow the same rules: those of the controller that follows policies, if the manifests are policies.
 */
function beforeAndAfter(
  flags: SimulateFlags,
  script: Script,
  before: ClusterSource,
  overlay: Overlay,
): readonly Variant[] {
  const { source: after } = overlay;
  const [semantics = 'precise'] = rulesIn(flags, script, after);
  const of = (source: ClusterSource) => {
    return { source, semantics, policies: policiesOf(flags, script, source) };
  };
  return [
    { name: beforeName, ...of(before) },
    { name: afterName, ...of(after), overlay },
  ];
}

/** The rules that are played where no variant is named. */
export function rulesIn(
  flags: SimulateFlags,
  script: Script,
  source: ClusterSource,
): readonly Semantics[] {
  const own = isAsItActs(flags, script, source) ? 'upstream-1.36' : ownRules(script, source);
  return flags.compare ? [own, other(own)] : [own];
}

/** The rules by which taintmgr-controller is set up. */
function ownRules({ engine }: Script, source: ClusterSource): Semantics {
  return engine.semantics ?? source.engine?.semantics ?? 'precise';
}

/**
 * Tells if kube-controller-manager is played because it acts in the cluster, and the user asks for nothing
 * that only taintmgr-controller does.
 */
function isAsItActs(flags: SimulateFlags, script: Script, source: ClusterSource): boolean {
  if (source.actor?.name !== 'kube-controller-manager') return false;
  const { policy = [] } = flags;
  const own = [...policy, ...Object.keys(script.engine), ...script.policies(source.startsAt)];
  return own.length === 0;
}

/** The reason why kube-controller-manager is played. */
export function actorNotes(
  flags: SimulateFlags,
  script: Script,
  source: ClusterSource,
): readonly string[] {
  if (flags.variant || !isAsItActs(flags, script, source)) return [];
  const { source: shown = null } = source.actor ?? {};
  const why =
    shown === null
      ? 'nothing says who evicts here, and it usually does'
      : `it evicts here (${shown})`;
  const others = flags.compare ?? flags.each ?? flags.apply;
  const more = others === undefined ? '; --compare plays taintmgr beside it' : '';
  return [`kube-controller-manager is played: ${why}${more}`];
}

/**
 * The policies in force: those of files, whose pauses hold from the start, and those of the cluster
 * that is copied.
 */
function policiesOf(
  { policy = [] }: SimulateFlags,
  { policies }: Script,
  { startsAt, policies: ofCluster }: ClusterSource,
): readonly PolicyObject[] {
  try {
    return filesFirst(readPolicyFiles(policy, startsAt, policies(startsAt)), ofCluster);
  } catch (error) {
    if (error instanceof PolicyPathError) throw new UsageError(`--policy ${error.message}`);
    throw error;
  }
}

function other(semantics: Semantics): Semantics {
  return semantics === 'precise' ? 'upstream-1.36' : 'precise';
}

/** The variants with the policies in force: those of a variant's own files come before others. */
function variantsOf(
  flags: readonly VariantFlag[],
  {
    own,
    ofFiles,
    policies,
    source,
  }: {
    /** The rules in force without a variant. */
    readonly own: Semantics;
    /** The rules of the controller that follows policies. */
    readonly ofFiles: Semantics;
    /** The policies in force without a variant. */
    readonly policies: readonly PolicyObject[];
    readonly source: ClusterSource;
  },
): readonly Variant[] {
  return flags.map(({ name, from }) => {
    if (from === unchangedWord) return { name, source, semantics: own, policies };
    if (from === upstreamWord) return { name, source, semantics: 'upstream-1.36', policies };
    return {
      name,
      source,
      semantics: ofFiles,
      policies: filesFirst(readVariant(name, from, source.startsAt), policies),
    };
  });
}

/** `now`: since when a pause of a file holds that does not say so. */
function readVariant(name: string, from: string, now: Instant): readonly PolicyObject[] {
  try {
    return readPolicyFiles([from], now);
  } catch (error) {
    if (!(error instanceof PolicyPathError)) throw error;
    const reserved = `${unchangedWord} or ${upstreamWord}`;
    throw new UsageError(
      `--variant ${name}=${error.message}; want a file, a directory, ${reserved}`,
    );
  }
}
