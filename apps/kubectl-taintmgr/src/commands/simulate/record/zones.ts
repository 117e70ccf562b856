import { describeHold, type Engine, type LifecycleReport, type ZoneStatus } from '@taintmgr/core';
import { natural } from './nodes.ts';
import { type Step, Steps } from './steps.ts';

/** How a zone is doing, as the controller sees it. */
export interface ZoneState {
  readonly state: string;
  readonly ready: number;
  readonly notReady: number;
  /** Nodes tainted a second, at most. */
  readonly rate: number;
  /** Why none is tainted for the time being; null: nothing holds them. */
  readonly held: string | null;
}

/** A zone and what became of it. */
export interface ZoneTrack {
  /** `region/zone`; empty for nodes that name neither. */
  readonly name: string;
  readonly states: readonly Step<ZoneState>[];
}

/** Records the states of zones during a run. */
export class ZoneBook {
  readonly #zones = new Map<string, Steps<ZoneState>>();

  /** `zones` are all of them as they are now. */
  notice(at: number, zones: ReturnType<Engine['zones']>): void {
    for (const zone of zones) {
      const steps = this.#zones.get(zone.name) ?? new Steps<ZoneState>();
      this.#zones.set(zone.name, steps);
      steps.push(at, stateOf(zone));
    }
  }

  tracks(): readonly ZoneTrack[] {
    const tracks = Array.from(this.#zones, ([name, steps]) => ({ name, states: steps.all }));
    return tracks.sort((one, other) => natural(one.name, other.name));
  }
}

/** Whether a report says that zones have changed. */
export function isOfZones(report: { readonly kind: string }): boolean {
  return zoneReports.some((kind) => kind === report.kind);
}

const zoneReports: readonly LifecycleReport['kind'][] = ['zone', 'zoneHold', 'nodeLost'];

function stateOf({ state, ready, notReady, rate, hold }: ZoneStatus): ZoneState {
  const held = hold && describeHold(hold);
  // Upstream counts in 32-bit floats.
  return { state: state ?? 'Unknown', ready, notReady, rate: Number(rate.toFixed(6)), held };
}
