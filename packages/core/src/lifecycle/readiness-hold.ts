// Whose pods nobody is to mark not ready for now, where somebody else watches over nodes.

import { unreachableKey } from '../model/lifecycle-taints.ts';
import { heldNodesMax, heldZonesMax } from '../policy/kinds/taint-manager.ts';
import { coversNode, coversTaint } from '../policy/pause-scope.ts';
import type { EvictionPause } from '../policy/values.ts';
import type { StoreView } from '../store.ts';
import type { HoldReason, ReadinessHold, ZoneStatus } from './reason.ts';
import { describeHold } from './text.ts';

/** What holds them: pauses that say so, and doubts about ourselves or a zone. Null: nothing does. */
export function readinessHold(
  store: StoreView,
  zones: readonly ZoneStatus[],
): ReadinessHold | null {
  const parts = [...zonesHeld(store, zones), ...pausesHeld(store)];
  if (parts.length === 0) return null;
  const names = unitedOf(parts.map((part) => part.zones));
  const nodes = unitedOf(parts.map((part) => part.nodes));
  // A status has room for so many; a part of them would let the others be marked.
  const isRoom = names.length <= heldZonesMax && nodes.length <= heldNodesMax;
  const all = parts.some((part) => part.all) || !isRoom;
  return {
    reason: [...new Set(parts.map(({ reason }) => reason))].join('; '),
    all,
    zones: all ? [] : names,
    nodes: all ? [] : nodes,
  };
}

function unitedOf(lists: readonly (readonly string[])[]): readonly string[] {
  return [...new Set(lists.flat())].sort();
}

/** A zone that is only tainted slowly is no reason to send traffic to pods that are gone. */
function isDoubt({ code }: HoldReason): boolean {
  return code !== 'ZoneStopped' && code !== 'RateZero';
}

function zonesHeld(store: StoreView, zones: readonly ZoneStatus[]): readonly ReadinessHold[] {
  const held = zones.flatMap(({ name, hold }) => (hold && isDoubt(hold) ? [{ name, hold }] : []));
  if (held.length > 0 && held.length === zones.length) {
    const reasons = new Set(held.map(({ hold }) => describeHold(hold)));
    return [{ reason: [...reasons].join('; '), all: true, zones: [], nodes: [] }];
  }
  return held.map(({ name, hold }) => {
    const nodes = [...store.nodes()].filter(({ zone = '' }) => zone === name);
    const names = nodes.map((node) => node.name);
    const reason = `zone ${name}: ${describeHold(hold)}`;
    return { reason, all: false, zones: name === '' ? [] : [name], nodes: names };
  });
}

/** Those of some namespaces only are left out: whose pods they hold cannot be said of nodes. */
function pausesHeld(store: StoreView): readonly ReadinessHold[] {
  return [...store.pauses()].flatMap(({ pause, isOver }) => {
    const { scope, readiness } = pause;
    if (isOver || !readiness || scope.namespaces.length > 0) return [];
    if (!coversTaint(scope, unreachableKey)) return [];
    return [partOf(store, pause)];
  });
}

function partOf(store: StoreView, { name, reason: why, scope }: EvictionPause): ReadinessHold {
  const reason = why === '' ? `pause ${name}` : `pause ${name}: ${why}`;
  if (scope.zones.length === 0 && scope.nodes === null) {
    return { reason, all: true, zones: [], nodes: [] };
  }
  const nodes = [...store.nodes()].filter((node) => coversNode(scope, node));
  const zones = scope.nodes === null ? scope.zones : [];
  return { reason, all: false, zones, nodes: nodes.map((node) => node.name) };
}
