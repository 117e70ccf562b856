import type { PressureConfig } from '@taintmgr/core/pressure';
import type { LifecycleTerms, Terms } from '@taintmgr/oracle';
import type { Topology } from '@taintmgr/sim-cluster';
import { clockActions } from './clock-script.ts';
import { drawConfig, type SeedConfig } from './config.ts';
import { controllerActions, processActions } from './controller-script.ts';
import { drainActions } from './drain-script.ts';
import { Draw } from './draw.ts';
import { drawLifecycle, drawUpstream } from './node-config.ts';
import { deleteDrains, letGo, nodeDrainActions } from './node-drain-script.ts';
import { machineActions, nodeActions } from './node-script.ts';
import { pauseActions } from './pause-script.ts';
import { policyActions, teamActions } from './policy-script.ts';
import { agentConfig, leakActions } from './pressure-script.ts';
import { ruleActions } from './rule-script.ts';
import { type Actions, podActions } from './script.ts';
import type { Story } from './story.ts';
import { healthCheckerActions, slowNamespaceActions, strangerActions } from './stranger-script.ts';
import { handOver, leave, putBack, readinessActions, takeoverActions } from './takeover-script.ts';
import {
  drawTopology,
  ownNamespace,
  ownTopology,
  returningTopology,
  smallTopology,
  zonesAlone,
} from './topology.ts';

/** The API server dates its answers in whole seconds, and clocks may drift a little. */
const clockMsMax = 1050;

/** Who plays in a story, and by which promises they are judged. */
export interface Cast {
  readonly topology: Topology;
  readonly config: SeedConfig;
  /** Of who evicts pods; null: that is not judged. */
  readonly evictions: Terms | null;
  /** Of who watches over nodes; null: a stand-in of the cluster does, and is not judged. */
  readonly lifecycle: LifecycleTerms | null;
  /** How many controllers there are; several elect one of them. */
  readonly replicas: number;
  /** Of the node pressure agent; null: there is none. */
  readonly pressure: Partial<PressureConfig> | null;
  /** Whether the controllers decide beside a kube-controller-manager; left out: there is none. */
  readonly takeover?: true;
  /** Whether the controllers carry out NodeDrains, and do nothing else; left out: no. */
  readonly nodeDrains?: true;
  /** Who evicts beside them: nobody, as is declared, or one that cannot be seen; left out: nobody asks. */
  readonly others?: 'nobody' | 'unseen';
}

/** A kind of story. */
export interface Plot {
  /** Number of its first draw; each plot has a dozen of its own. */
  readonly purpose: number;
  readonly cast: (draw: Draw) => Cast;
  /** What may happen and how likely each is; each story has one of these themes. */
  readonly themes: Readonly<Record<string, Actions>>;
  /** A theme that one story in so many has, in the place of theirs; left out: none. */
  readonly seldom?: { readonly theme: string; readonly actions: Actions };
  /** When the cluster is up. */
  readonly begin?: (story: Story, draw: Draw) => void;
  /** What else ends with all trouble. */
  readonly calm?: (story: Story) => void;
  /** What comes after everything; answers since when nobody decides any more. */
  readonly end?: (story: Story, draw: Draw) => number;
  /** How long the rest lasts after everybody has had the time to recover, in milliseconds. */
  readonly restMs: readonly (readonly [weight: number, ms: number])[];
}

export type StoryName =
  | 'evictions'
  | 'nodes'
  | 'whole'
  | 'clocks'
  | 'policies'
  | 'takeover'
  | 'drains'
  | 'strangers';

const common: Actions = [...podActions, ...machineActions, ...controllerActions];

/** The same, so much likelier. */
function times(factor: number, actions: Actions): Actions {
  return actions.map(([weight, action]) => [weight * factor, action]);
}

const seldomEvery = 16;

/** What may happen in the story of a seed. */
export function actionsOf(name: StoryName, seed: number): Actions {
  const { themes, seldom } = plots[name];
  const theme = themeOf(name, seed);
  return (theme === seldom?.theme ? seldom.actions : themes[theme]) ?? [];
}

/** The theme that a seed's story has. */
export function themeOf(name: StoryName, seed: number): string {
  const { themes, seldom, purpose } = plots[name];
  if (seldom && seed % seldomEvery === seldomEvery / 2) return seldom.theme;
  return new Draw(seed, purpose + 11).of(Object.keys(themes));
}

/**
 * The stories that are told: of a small cluster whose nodes a stand-in taints, of nodes that the
 * controller watches over, of everything at once, of replicas whose clocks are set, of policies in
 * the cluster that come, change and go, of a kube-controller-manager that evicts as well, of
 * NodeDrains, and of people who may not evict.
 */
export const plots: Readonly<Record<StoryName, Plot>> = {
  evictions: {
    purpose: 1,
    cast: (draw) => {
      const { config, terms } = drawConfig(draw);
      const alone = { lifecycle: null, replicas: 1, pressure: null };
      return { topology: smallTopology, config, evictions: terms, ...alone };
    },
    themes: { all: [...podActions, ...machineActions, ...controllerActions] },
    // Longer than most tolerations that the script draws.
    restMs: [
      [5, 20_000],
      [1, 400_000],
    ],
  },
  nodes: {
    purpose: 21,
    cast: (draw) => {
      const { config, terms } = draw.chance(0.2) ? drawUpstream(draw) : drawLifecycle(draw);
      const alone = { evictions: null, replicas: 1, pressure: null };
      return { topology: zonesAlone(draw), config, lifecycle: terms, ...alone };
    },
    themes: { all: [...nodeActions, ...machineActions, ...controllerActions] },
    // The longer one is what the slowest zone takes for its nodes at the rates that are drawn.
    restMs: [
      [3, 60_000],
      [1, 600_000],
    ],
  },
  whole: {
    purpose: 41,
    cast: (draw) => {
      const evictions = drawConfig(draw);
      const nodes = draw.chance(0.7) ? drawLifecycle(draw) : null;
      const replicas = draw.chance(0.4) ? 2 : 1;
      return {
        topology: drawTopology(draw),
        config: { ...evictions.config, ...nodes?.config },
        evictions: {
          ...evictions.terms,
          elected: replicas > 1,
          holdsFullDisruption: nodes?.config.lifecycle?.fullDisruption === 'hold',
        },
        lifecycle: nodes?.terms ?? null,
        replicas,
        pressure: draw.chance(0.3) ? agentConfig : null,
      };
    },
    themes: {
      all: [...podActions, ...nodeActions, ...machineActions, ...controllerActions, ...leakActions],
    },
    restMs: [
      [5, 20_000],
      [1, 400_000],
    ],
  },
  clocks: {
    purpose: 61,
    cast: (draw) => {
      const { config, terms } = drawConfig(draw);
      const nodes = draw.chance(0.4) ? drawLifecycle(draw) : null;
      const holdsFullDisruption = nodes?.config.lifecycle?.fullDisruption === 'hold';
      return {
        topology: smallTopology,
        config: { ...config, ...nodes?.config },
        evictions: { ...terms, elected: true, holdsFullDisruption, clockMs: clockMsMax },
        lifecycle: nodes?.terms ?? null,
        replicas: 2,
        pressure: null,
      };
    },
    themes: { all: [...podActions, ...machineActions, ...controllerActions, ...clockActions] },
    restMs: [
      [5, 20_000],
      [1, 400_000],
    ],
  },
  policies: {
    purpose: 81,
    cast: (draw) => {
      const { config, terms } = drawConfig(draw);
      const nodes = draw.chance(0.6) ? drawLifecycle(draw) : null;
      const holdsFullDisruption = nodes?.config.lifecycle?.fullDisruption === 'hold';
      const replicas = draw.chance(0.3) ? 2 : 1;
      // Of the cluster come all policies, and most limits.
      const own = { policies: [], limits: [], minTaintAgeMs: 0 };
      const promised = { policies: [], rates: [], windows: [], minTaintAgeMs: 0, mayStop: false };
      return {
        topology: smallTopology,
        config: { ...config, ...nodes?.config, ...own },
        evictions: {
          ...{ ...terms, ...promised, holdsFullDisruption },
          ...{ elected: replicas > 1, clusterPolicies: true },
        },
        lifecycle: nodes?.terms ?? null,
        replicas,
        pressure: null,
      };
    },
    themes: {
      policies: [...common, ...policyActions],
      pauses: [...common, ...times(0.5, policyActions), ...times(2, pauseActions)],
      rules: [...common, ...times(4, ruleActions), ...pauseActions],
      drains: [...common, ...times(3, drainActions), ...times(0.3, policyActions)],
      all: [...common, ...policyActions, ...pauseActions, ...ruleActions, ...drainActions],
    },
    seldom: { theme: 'namespaces', actions: [...common, ...teamActions] },
    restMs: [
      [5, 20_000],
      [1, 400_000],
    ],
  },
  takeover: {
    purpose: 101,
    cast: (draw) => {
      const { config, terms } = drawConfig(draw);
      // Of the cluster come all policies, and most limits.
      const own = { policies: [], limits: [], minTaintAgeMs: 0 };
      const promised = { policies: [], rates: [], windows: [], minTaintAgeMs: 0, mayStop: false };
      const replicas = draw.chance(0.5) ? 2 : 1;
      const holdsFullDisruption = draw.chance(0.5);
      const fullDisruption = holdsFullDisruption ? ('hold' as const) : ('evict' as const);
      const lifecycle = { nodeMonitorGracePeriodMs: 30_000, observes: true, fullDisruption };
      return {
        topology: smallTopology,
        config: { ...config, ...own, takeover: true, lifecycle },
        evictions: {
          ...{ ...terms, ...promised, clockMs: clockMsMax, holdsFullDisruption },
          ...{ clusterPolicies: true, takeover: true },
        },
        lifecycle: null,
        replicas,
        pressure: null,
        takeover: true,
      };
    },
    themes: {
      all: [
        ...podActions.map(([weight, act]) => [weight / 2, act] as const),
        ...machineActions,
        ...processActions,
        ...takeoverActions,
      ],
      readiness: [...times(0.5, machineActions), ...processActions, ...readinessActions],
    },
    begin: handOver,
    calm: putBack,
    end: leave,
    restMs: [
      [5, 20_000],
      [1, 400_000],
    ],
  },
  drains: {
    purpose: 121,
    cast: (draw) => ({
      topology: returningTopology,
      config: { mode: 'evict', taintEviction: false, nodeDrains: true },
      ...{ evictions: null, lifecycle: null, pressure: null, nodeDrains: true },
      replicas: draw.chance(0.5) ? 2 : 1,
    }),
    themes: {
      all: [...podActions, ...machineActions, ...processActions, ...times(2, nodeDrainActions)],
    },
    calm: letGo,
    end: deleteDrains,
    restMs: [
      [5, 60_000],
      [1, 400_000],
    ],
  },
  strangers: {
    purpose: 141,
    cast: (draw) => {
      const { config, terms } = drawConfig(draw);
      const own = { policies: [], limits: [], minTaintAgeMs: 0, evictionsInFlightMax: 50 };
      const promised = { policies: [], rates: [], windows: [], minTaintAgeMs: 0, mayStop: false };
      return {
        topology: ownTopology,
        config: { ...config, ...own },
        evictions: { ...terms, ...promised, own: { namespace: ownNamespace, name: null } },
        ...{ lifecycle: null, pressure: null, replicas: 1 },
        others: draw.chance(0.7) ? 'nobody' : 'unseen',
      };
    },
    themes: {
      forged: [...times(0.5, common), ...times(4, strangerActions)],
      health: [...times(0.5, common), ...times(3, healthCheckerActions)],
      slow: [...times(0.5, common), ...strangerActions, ...slowNamespaceActions],
    },
    restMs: [
      [5, 20_000],
      [1, 400_000],
    ],
  },
};
