// A controller with --takeover beside a kube-controller-manager, and what tests do and look at.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { type RunningProcess, startProcess } from '../../harness/running-process.ts';
import { type Asked, TakeoverWorld, tokenOf, users } from './takeover-world.ts';

export const takeoverFlags: readonly string[] = [
  ...['--takeover', '--controllers=*,-node-lifecycle-controller', '--mode=evict'],
];
/** Its pages may be read by whoever asks. */
export const openPages = '--authorization-always-allow-paths=/*';
export const taintManagers = 'taintmanagers.taintmgr.dev';
export const policies = 'validatingadmissionpolicies';
export const bindings = 'validatingadmissionpolicybindings';
const pauses = 'evictionpauses.taintmgr.dev';

/** What is said where a pod went all the same. */
export const letThroughText = (pod: string): string =>
  `kube-controller-manager was let through with pod in/${pod}, whose namespace is taken over: ` +
  'the heartbeat was late, the policies were not in force, or its clock is off by more than 1m';

export interface Scene {
  readonly world: TakeoverWorld;
  readonly controller: RunningProcess;
}

interface SceneOptions {
  /** How far the clock of the control plane is ahead of ours; 0 when left out. */
  readonly ahead?: number;
  readonly flags?: readonly string[];
  /** What is otherwise before the controller starts. */
  readonly before?: (world: TakeoverWorld) => void;
}

/** The pod is in the namespace that is taken over, a pause holds it, and the policies refuse. */
export async function holding(
  t: TestContext,
  pod: string,
  { ahead = 0, flags = [], before = () => {} }: SceneOptions = {},
): Promise<Scene> {
  const world = await TakeoverWorld.start(t, {}, ahead);
  world.pod('in', pod);
  pause(world);
  before(world);
  const controller = await startController(t, world, ...flags);
  await begun(world, controller, pod);
  return { world, controller };
}

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
export function pause(world: TakeoverWorld, name = 'audit', spec: object = {}): void {
  world.api.create(pauses, {
    apiVersion: 'taintmgr.dev/v1alpha1',
    kind: 'EvictionPause',
    metadata: { name },
    spec: { reason: 'audit', ...spec },
  });
}

export function resume(world: TakeoverWorld, name = 'audit'): void {
  world.api.delete(pauses, '', name);
}

/** kube-controller-manager starts, and the node has a taint that its pods do not tolerate. */
export function upset(world: TakeoverWorld): void {
  world.manager.start();
  world.taint();
}

/** kube-controller-manager begins anew, and asks again for every pod. */
export async function restartManager(world: TakeoverWorld): Promise<void> {
  await world.manager.stop();
  world.manager.start();
}

/** It asked as often as it does, was refused each time, and the pod is there. */
export async function assertSpared(world: TakeoverWorld, pod: string, tries = 5): Promise<void> {
  await world.refused('in', pod, tries);
  assert.equal(world.isDeleted('in', pod), false);
}

/** It is refused the pod, and once more where it begins anew. */
export async function assertSparedAnew(world: TakeoverWorld, pod: string): Promise<void> {
  const tries = world.marks('in', pod).length;
  await restartManager(world);
  await assertSpared(world, pod, tries + 5);
}

/** What asked for evictions of pods. */
export function evictions(world: TakeoverWorld): readonly Asked[] {
  return world.asked.filter(({ path }) => path.endsWith('/eviction'));
}

/** It was we who evicted them, in this order, and nobody else. */
export function assertEvicted(world: TakeoverWorld, ...pods: readonly string[]): void {
  assert.deepEqual(
    evictions(world).map(({ path, user, status }) => [path.split('/').at(-2), user, status]),
    pods.map((pod) => [pod, users.controller, 201]),
  );
}

/** kube-controller-manager's requests for pods come with another body. */
export function changeMarks(world: TakeoverWorld, how: (body: string) => string): void {
  world.change((request) => {
    const isMark = tokenOf(request) === 'manager' && request.path.includes('/pods/');
    return isMark && request.body !== null ? { ...request, body: how(`${request.body}`) } : request;
  });
}

/** It dates its marks by another clock: `at` says what that shows when ours shows so much. */
export function dateMarks(world: TakeoverWorld, at: (ours: number) => number): void {
  changeMarks(world, (body) =>
    body.replace(/(?<="lastTransitionTime":")[^"]+/, (time) =>
      new Date(at(Date.parse(time))).toISOString().replace(/[.]\d+/, ''),
    ),
  );
}

export function eventsOn(world: TakeoverWorld, pod: string): readonly string[] {
  return world.api
    .list('events')
    .filter(({ involvedObject }) => involvedObject?.name === pod)
    .map(({ reason, message }) => `${reason}: ${message}`);
}

interface Published {
  readonly renewTime?: string;
  readonly conditions?: readonly { readonly type: string; readonly message: string }[];
  readonly zones?: readonly { readonly name: string; readonly heldSince?: string }[];
  readonly takeover?: {
    readonly enabled?: boolean;
    readonly drift?: readonly string[];
    readonly byNamespace?: readonly object[];
    readonly letThrough?: number;
    readonly spared?: number;
    readonly policyVersion?: string;
    readonly deviceTaints?: boolean;
    readonly holdReadiness?: { readonly reason: string };
  };
}

export function published(world: TakeoverWorld): Published {
  const [one] = world.api.list(taintManagers);
  return (one?.status ?? {}) as Published;
}

/** When the leader last wrote its status. */
export function beatOf(world: TakeoverWorld): number {
  return Date.parse(published(world).renewTime ?? assert.fail('there is no heartbeat'));
}
