// What may happen to a controller that decides beside a kube-controller-manager, and to what it needs.
import { customResourceDefinitions } from '@taintmgr/k8s-adapter/kinds';
import type { ClusterApi, FaultRule } from '@taintmgr/sim-cluster';
import { takeoverManifests } from '../../src/takeover/manifests.ts';
import { setClock } from './clock-script.ts';
import { lease } from './controller.ts';
import type { Draw } from './draw.ts';
import { nodeActions } from './node-script.ts';
import { policyActions } from './policy-script.ts';
import {
  deletePause,
  pauses,
  putPause,
  silenceAll,
  silenceInAHold,
  silenceMost,
  silenceWholeZone,
} from './readiness-script.ts';
import { type Actions, current } from './script.ts';
import type { Story } from './story.ts';
import { ourUser } from './users.ts';

export const takeoverActions: Actions = [
  ...nodeActions.map(([weight, act]) => [weight / 3, act] as const),
  ...policyActions.map(([weight, act]) => [weight / 3, act] as const),
  [14, upset],
  [6, settle],
  [3, silenceInAHold],
  [3, silenceAll],
  [5, changeNamespace],
  [4, putPause],
  [3, deletePause],
  [3, deletePolicyObject],
  [3, editPolicyObject],
  [2, putPoliciesBack],
  [3, restartUpstream],
  [2, crashUpstream],
  [2, deleteManager],
  [1, deleteKind],
  [2, putKindBack],
  [4, failHeartbeats],
  [2, loseLease],
  [3, restartServer],
  [2, setClock],
  [4, lull],
];

/** The same, mostly of nodes that are silent and pods that are marked not ready for it. */
export const readinessActions: Actions = [
  ...nodeActions.map(([weight, act]) => [weight / 2, act] as const),
  [6, silenceInAHold],
  [6, silenceAll],
  [6, silenceMost],
  [6, silenceWholeZone],
  [2, upset],
  [2, changeNamespace],
  [5, putPause],
  [4, deletePause],
  [2, deletePolicyObject],
  [2, editPolicyObject],
  [2, putPoliciesBack],
  [2, restartUpstream],
  [1, deleteManager],
  [2, failHeartbeats],
  [1, loseLease],
  [1, restartServer],
  [3, lull],
];

const managers = 'taintmanagers.taintmgr.dev';
const definitions = 'customresourcedefinitions';
const namespaces = ['shop', 'infra', 'lab', 'default'] as const;
const kinds = ['validatingadmissionpolicies', 'validatingadmissionpolicybindings'] as const;
const names = ['taintmgr-takeover', 'taintmgr-readiness'] as const;
const label = 'taintmgr.dev/takeover';
const second = 1000;
/** The policies go by a heartbeat for a minute; times in conditions are whole seconds. */
const goneMs = 62 * second;

/** How far kube-controller-manager's clock is off: mostly not at all, else within the bound or beyond. */
function drawSkew(draw: Draw): number {
  return draw.weighted([
    [5, 0],
    [3, draw.of([-58, -30, -2, 2, 30, 58]) * second],
    [2, draw.of([-600, -90, -62, 62, 90, 600]) * second],
  ]);
}

/** Most namespaces are handed over, and kube-controller-manager begins. */
export function handOver(story: Story, draw: Draw): void {
  const { api, stage } = story;
  for (const name of namespaces) if (draw.chance(0.7)) setLabel(api, name, 'enabled');
  if (draw.chance(0.9)) stage.kubeControllerManager?.start(drawSkew(draw));
  for (const one of story.controllers) if (one.state === 'down') stage.start(one);
  stage.say(upset(story, draw));
}

/** All is as it should be again. */
export function putBack(story: Story): void {
  const { api, stage } = story;
  putKind(story);
  for (const { metadata } of api.list(pauses)) api.delete(pauses, '', metadata.name);
  stage.kubeControllerManager?.start(0);
}

/** The controllers are gone for good; kube-controller-manager begins anew when it is refused nothing more. */
export function leave(story: Story, draw: Draw): number {
  const { api, stage, controllers, nodeNames, sabotage } = story;
  for (const controller of controllers) if (controller.state !== 'down') controller.crash();
  stage.say('the controllers are gone');
  const taint = { key: 'gone', effect: 'NoExecute' };
  const node = api.get('nodes', '', draw.of(nodeNames));
  if (node) {
    const taints = [...(node.spec.taints ?? []), taint];
    api.update('nodes', { ...current(node), spec: { ...node.spec, taints } });
  }
  stage.passUntil(story.now() + goneMs);
  if (sabotage.takeover?.isUndead) beat(story);
  stage.kubeControllerManager?.crash();
  stage.kubeControllerManager?.start(0);
  const since = story.now();
  stage.say('kube-controller-manager begins anew');
  stage.passUntil(since + 60 * second);
  return since;
}

function beat({ api, now }: Story): void {
  const found = api.get(managers, '', 'taintmgr');
  if (!found) return;
  const status = { ...found.status, renewTime: new Date(now()).toISOString() };
  api.update(managers, { ...found, status }, 'status');
}

/** A taint that few tolerate for long. */
function upset({ api, nodeNames }: Story, draw: Draw): string {
  const name = draw.of(nodeNames);
  const taint = { key: draw.of(['urgent', 'urgent', 'maintenance', 'spot']), effect: 'NoExecute' };
  return retaint(api, name, (before) => [...before.filter(({ key }) => key !== taint.key), taint]);
}

function settle({ api, nodeNames }: Story, draw: Draw): string {
  return retaint(api, draw.of(nodeNames), () => []);
}

interface Taint {
  readonly key: string;
  readonly effect: string;
}

function retaint(
  api: ClusterApi,
  name: string,
  change: (before: readonly Taint[]) => readonly Taint[],
): string {
  const node = api.get('nodes', '', name);
  if (!node) return `${name} is not there`;
  const taints = change(node.spec.taints ?? []);
  api.update('nodes', { ...current(node), spec: { ...node.spec, taints } });
  return `${name} has the taints ${JSON.stringify(taints)}`;
}

function changeNamespace({ api }: Story, draw: Draw): string {
  const name = draw.of(namespaces);
  const value = draw.of(['enabled', 'enabled', 'disabled', null]);
  setLabel(api, name, value);
  return `namespace ${name}: ${label}=${value ?? ''}`;
}

function setLabel(api: ClusterApi, name: string, value: string | null): void {
  const found = api.get('namespaces', '', name);
  if (!found) return;
  const { metadata } = current(found);
  const { [label]: _, ...others } = metadata.labels ?? {};
  const labels = value === null ? others : { ...others, [label]: value };
  api.update('namespaces', { ...found, metadata: { ...metadata, labels } });
}

function deletePolicyObject({ api }: Story, draw: Draw): string {
  const [kind, name] = [draw.of(kinds), draw.of(names)];
  if (!api.get(kind, '', name)) return `there is no ${name} of ${kind}`;
  api.delete(kind, '', name);
  return `delete ${name} of ${kind}`;
}

/** So that less is refused. */
function editPolicyObject({ api }: Story, draw: Draw): string {
  const [kind, name] = [draw.of(kinds), draw.of(names)];
  const found = api.get(kind, '', name);
  if (!found) return `there is no ${name} of ${kind}`;
  const { spec } = found;
  const off = { name: 'off', expression: 'false' };
  const never = { matchLabels: { [label]: 'never' } };
  const edited =
    kind === 'validatingadmissionpolicies'
      ? draw.of([
          { ...spec, matchConditions: [...spec.matchConditions, off] },
          { ...spec, matchConstraints: { ...spec.matchConstraints, namespaceSelector: never } },
        ])
      : draw.of([
          { ...spec, validationActions: ['Warn'] },
          { ...spec, paramRef: { ...spec.paramRef, name: 'other' } },
        ]);
  api.update(kind, { ...current(found), spec: edited });
  return `edit ${name} of ${kind}`;
}

/** As by GitOps. */
function putPoliciesBack({ api }: Story): string {
  const manifests = takeoverManifests({ manager: 'taintmgr', users: [ourUser] });
  for (const manifest of manifests) {
    const { apiVersion, kind, metadata, spec } = structuredClone(manifest);
    const plural = kind === 'ValidatingAdmissionPolicy' ? kinds[0] : kinds[1];
    if (!api.get(plural, '', metadata.name))
      api.create(plural, { apiVersion, kind, metadata, spec });
  }
  return 'put the policies back';
}

function restartUpstream({ stage }: Story, draw: Draw): string {
  const skew = drawSkew(draw);
  stage.kubeControllerManager?.crash();
  stage.kubeControllerManager?.start(skew);
  return `kube-controller-manager restarts, its clock is off by ${skew} ms`;
}

function crashUpstream({ stage }: Story): string {
  stage.kubeControllerManager?.crash();
  return 'kube-controller-manager crashes';
}

function deleteManager({ api }: Story): string {
  if (!api.get(definitions, '', managers)) return 'there are no TaintManagers';
  if (!api.get(managers, '', 'taintmgr')) return 'there is no TaintManager';
  api.delete(managers, '', 'taintmgr');
  return 'delete the TaintManager';
}

function deleteKind({ api }: Story): string {
  if (!api.get(definitions, '', managers)) return 'the kind of TaintManagers is gone';
  api.delete(definitions, '', managers);
  return 'delete the kind of TaintManagers';
}

function putKindBack(story: Story): string {
  return putKind(story)
    ? 'the kind of TaintManagers is back'
    : 'the kind of TaintManagers is there';
}

function putKind(story: Story): boolean {
  const { api, stage } = story;
  const isGoing = (): boolean =>
    api.get(definitions, '', managers)?.metadata.deletionTimestamp !== undefined;
  // One that is being deleted would stand in the way, and be gone then.
  while (isGoing()) stage.passUntil(story.now() + second / 10);
  const definition = customResourceDefinitions().find(({ metadata }) => metadata.name === managers);
  if (!definition || api.get(definitions, '', managers)) return false;
  api.create(definitions, structuredClone(definition));
  return true;
}

/** Heartbeats, or what keeps the policies, do not arrive, or late, or without an answer. */
function failHeartbeats({ troubles }: Story, draw: Draw): string {
  const resource = draw.of(['taintmanagers/status', 'taintmanagers/status', ...kinds]);
  const fault = draw.of<FaultRule['fault']>([
    { kind: 'refuse' },
    { kind: 'lose' },
    { kind: 'answer', code: 500 },
    { kind: 'answer', code: 429 },
    { kind: 'halfOpen', afterMs: 0 },
    { kind: 'delay', ms: draw.of([900, 4_000, 31_000]) },
  ]);
  const ms = draw.of([9_000, 30_000, 55_000, 70_000, 200_000]);
  return troubles.strike({ fault, resource, probability: draw.of([0.5, 1]) }, ms);
}

/** Somebody deletes the lease, or writes himself out of it: for a moment two take themselves for the leader. */
function loseLease({ api }: Story, draw: Draw): string {
  const found = api.get('leases', lease.namespace, lease.name);
  if (!found) return 'there is no lease';
  if (draw.chance(0.5)) {
    api.delete('leases', lease.namespace, lease.name);
    return 'delete the lease';
  }
  api.update('leases', { ...current(found), spec: { ...found.spec, holderIdentity: '' } });
  return 'somebody writes the leader out of the lease';
}

function restartServer({ troubles }: Story, draw: Draw): string {
  return troubles.restart(draw.of([100, 3_000, 20_000]));
}

/** Whoever acts begins anew, and kube-controller-manager asks again for every pod. */
function lull(story: Story, draw: Draw): string {
  const { stage, controllers, troubles } = story;
  stage.say('a lull begins');
  troubles.end();
  if (draw.chance(0.6)) stage.say(putPause(story, draw));
  stage.say(upset(story, draw));
  putKind(story);
  for (const controller of controllers) {
    if (controller.state !== 'down') controller.crash();
    stage.start(controller);
  }
  stage.passUntil(story.now() + 60 * second);
  stage.kubeControllerManager?.crash();
  stage.kubeControllerManager?.start(0);
  story.lull();
  return 'a lull is over';
}
