// A controller with --takeover, and what tests look at.
import type { TestContext } from 'node:test';
import { type RunningProcess, startProcess } from '../harness/running-process.ts';
import type { TakeoverWorld } from './takeover-world.ts';

export const takeoverFlags: readonly string[] = [
  ...['--takeover', '--controllers=*,-node-lifecycle-controller', '--mode=evict'],
];
export const taintManagers = 'taintmanagers.taintmgr.dev';
export const policies = 'validatingadmissionpolicies';
export const bindings = 'validatingadmissionpolicybindings';

export function startController(
  t: TestContext,
  world: TakeoverWorld,
  ...more: readonly string[]
): Promise<RunningProcess> {
  return startReplicaOf(t, world, 'controller', ...more);
}

/** A replica with this token. */
export function startReplicaOf(
  t: TestContext,
  world: TakeoverWorld,
  who: 'controller' | 'replica',
  ...more: readonly string[]
): Promise<RunningProcess> {
  const connection = { kubeconfig: world.kubeconfig(who) };
  return startProcess(t, { connection, flags: [...takeoverFlags, ...more] });
}

/** Resolves when the controller keeps the policies, and they refuse. */
export async function begun(
  world: TakeoverWorld,
  controller: RunningProcess,
  pod: string,
): Promise<void> {
  await controller.saw('the policies of takeover are in force');
  await controller.saw('publishing status');
  await world.untilPolicies(true, pod);
}

/** What holds every pod, by hand. */
export function pause(world: TakeoverWorld): void {
  world.api.create('evictionpauses.taintmgr.dev', {
    apiVersion: 'taintmgr.dev/v1alpha1',
    kind: 'EvictionPause',
    metadata: { name: 'audit' },
    spec: { reason: 'audit' },
  });
}

export function eventsOn(world: TakeoverWorld, pod: string): readonly string[] {
  return world.api
    .list('events')
    .filter(({ involvedObject }) => involvedObject?.name === pod)
    .map(({ reason, message }) => `${reason}: ${message}`);
}

export interface Published {
  readonly renewTime?: string;
  readonly conditions?: readonly { readonly type: string; readonly message: string }[];
  readonly takeover?: {
    readonly enabled?: boolean;
    readonly drift?: readonly string[];
    readonly byNamespace?: readonly object[];
    readonly letThrough?: number;
    readonly spared?: number;
    readonly policyVersion?: string;
    readonly holdReadiness?: object;
  };
}

export function published(world: TakeoverWorld): Published {
  const [one] = world.api.list(taintManagers);
  return (one?.status ?? {}) as Published;
}
