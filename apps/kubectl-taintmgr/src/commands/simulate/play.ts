// Plays the question: each variant with each seed.
import type { Invocation } from '../../cli/registry.ts';
import { Rollout } from './apply/rollout.ts';
import type { SimulateFlags } from './flags.ts';
import { type Result, type RunResult, withDraws, withSummary } from './result/documents.ts';
import type { FailIf } from './result/fail-if.ts';
import type { Script } from './script/script.ts';
import type { ClusterSource } from './source/source.ts';
import {
  Beginning,
  managerSettings,
  type RolloutStep,
  type Run,
  type RunOptions,
} from './stage/run.ts';
import type { Variant } from './variants.ts';
import { watched } from './watched.ts';

/** Plays the runs one after the other, with each seed. */
export async function play(
  source: ClusterSource,
  { script, variants }: { readonly script: Script; readonly variants: readonly Variant[] },
  { flags, output, interrupt }: Invocation<SimulateFlags>,
  conditions: readonly FailIf[],
): Promise<Result> {
  const { seed, seeds, until } = flags;
  const audience = { live: await output.live(), interrupt };
  const draws: (readonly RunResult[])[] = [];
  for (let draw = 0; draw < seeds; draw++) {
    const common = { source, script, seed: seed + draw, until };
    const beginnings = beginningsOf(variants, common);
    const runs = new Map<string, RunResult>();
    const overlay = variants.find((variant) => variant.overlay)?.overlay;
    const rollout = overlay ? new Rollout(overlay) : null;
    for (const variant of inOrder(variants)) {
      const { name, source: cluster, semantics, policies } = variant;
      const onStart = (run: Run): void => {
        for (const condition of conditions) condition.check(withSummary(run, until, name));
      };
      const beginning = beginnings.get(cluster);
      const options = {
        ...{ ...common, source: cluster, policies, semantics, onStart },
        ...(beginning && { beginning }),
        ...(rollout && { rollout: stepOf(rollout, variant) }),
      };
      const which = seeds > 1 ? `seed ${common.seed}: ` : '';
      const what = variants.length > 1 ? `${which}${name}: ` : which;
      const run = withSummary(await watched(options, what, audience), until, name);
      runs.set(name, draw === 0 ? run : withoutCourse(run));
    }
    draws.push(variants.flatMap(({ name }) => runs.get(name) ?? []));
  }
  const limits = conditions.map((condition) => condition.judge(draws));
  const [first = [], ...others] = draws;
  const runs = first.map((run, index) => {
    return withDraws(
      run,
      others.flatMap((draw) => draw[index]?.summary ?? []),
    );
  });
  const isManager = runs.some(({ semantics }) => semantics === 'upstream-1.36');
  const manager = isManager ? managerSettings(source, script) : null;
  const { applied } = variants.find(({ overlay }) => overlay)?.overlay ?? {};
  const asked = { script: scriptName(flags), seed, seeds, until };
  return { source, ...asked, runs, limits, applied, manager };
}

function stepOf(rollout: Rollout, { overlay }: Variant): RolloutStep {
  return (...given) => (overlay ? rollout.after(...given) : rollout.before(...given));
}

/** The one that says how long the others wait goes first. */
function inOrder(variants: readonly Variant[]): readonly Variant[] {
  return variants.toSorted((one, other) => Number(!one.overlay) - Number(!other.overlay));
}

/** The source of the events; null: there are none. */
function scriptName({ script, event = [] }: SimulateFlags): string | null {
  const names = [...(script === undefined ? [] : [script]), ...event];
  return names.length === 0 ? null : names.join(' and ');
}

/** Returns a beginning for each cluster, which the variants in it share. */
function beginningsOf(
  variants: readonly Variant[],
  common: Pick<RunOptions, 'script' | 'seed'>,
): ReadonlyMap<ClusterSource, Beginning> {
  const sources = new Set(variants.map(({ source }) => source));
  return new Map(
    Array.from(sources, (source) => {
      const runs = variants.filter((one) => one.source === source).length;
      return [source, new Beginning({ ...common, source, runs })];
    }),
  );
}

/** Of the draws after the first the figures are kept, and what conditions ask for. */
function withoutCourse(run: RunResult): RunResult {
  const { unplaced } = run.recording;
  const none = { evictions: [], failures: [], refusals: [], holds: [], nodes: [], zones: [] };
  return { ...run, recording: { ...run.recording, ...none, workloads: [], unplaced } };
}
